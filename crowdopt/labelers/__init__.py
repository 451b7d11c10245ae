"""Tasks arrive one by one and no truth is ever shown: whom to ask (Liu & Liu 2015)."""
