"""What knows the right answers independently of the weights, and the arguments that hold for all n."""
