"""A campaign that runs over HTTP: endpoints, tokens, limits, pages (the extra ``live``)."""
