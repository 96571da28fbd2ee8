// The life of the page.
