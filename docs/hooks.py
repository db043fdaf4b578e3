"""What mkdocs calls for each page. Not in verify/: mkdocs first imports what stands beside this file, as verify/precision.py."""

from verify.site import on_page_content, on_page_markdown

__all__ = ["on_page_content", "on_page_markdown"]
