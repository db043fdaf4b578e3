def html_page(*args: object) -> str:
    return ""
