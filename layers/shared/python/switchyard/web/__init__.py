"""What the API needs beside its routes: reading bodies, saying no, and telling what it can do."""
