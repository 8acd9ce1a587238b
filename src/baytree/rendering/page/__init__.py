"""HTML pages: a record per section (`*_views`), a template per record, and one self-contained file (`html_page`)."""
