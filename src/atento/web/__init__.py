"""What every server of atento stands on: a guard before all routes, and a socket that only the right people reach.

guard     who may ask: Host, token, Origin, method, content type, size of the body; the headers of every answer
bodies    the bodies of requests, bounded
server    bind, print the link, serve, end in good order
tokens    the secret that a page and its server share
"""
