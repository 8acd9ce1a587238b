"""Export of formulas to JavaScript: a script without dependencies for Node.js or a web page."""
