# Run within sandboxes: asks for a URL in one of the ways that lead to the proxy, and prints what it gets.
import os, socket, sys, urllib.parse, urllib.request

way, url = sys.argv[1:]
for name in ('NO_PROXY', 'no_proxy'):
    os.environ.pop(name, None)
# By its address: without domains, no file says where `localhost` is.
address = os.environ['HTTP_PROXY'].replace('localhost', '127.0.0.1')
proxy = urllib.parse.urlsplit(address)
target = urllib.parse.urlsplit(url)
host, port = target.hostname, target.port or 80
user, password = (urllib.parse.unquote(each) for each in (proxy.username, proxy.password))
request = f'GET / HTTP/1.1\r\nHost: {target.netloc}\r\nConnection: close\r\n\r\n'.encode()


def text(connection):
    pieces = iter(lambda: connection.recv(65536), b'')
    return b''.join(pieces).decode()


if way == 'request':
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({'http': address}))
    try:
        print(opener.open(url, timeout=20).read().decode())
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode())
elif way == 'tunnel':
    import base64

    basic = base64.b64encode(f'{user}:{password}'.encode()).decode()
    connection = socket.create_connection((proxy.hostname, proxy.port), 20)
    connection.sendall(f'CONNECT {host}:{port} HTTP/1.1\r\nProxy-Authorization: Basic {basic}\r\n\r\n'.encode())
    answer = connection.recv(65536).decode()
    print(answer)
    if ' 200 ' in answer:
        connection.sendall(request)
        print(text(connection))
elif way == 'socks':
    connection = socket.create_connection(('127.0.0.1', 1080), 20)
    connection.sendall(b'\x05\x01\x02')
    connection.recv(2)
    connection.sendall(b'\x01' + bytes([len(user)]) + user.encode() + bytes([len(password)]) + password.encode())
    connection.recv(2)
    connection.sendall(b'\x05\x01\x00\x03' + bytes([len(host)]) + host.encode() + port.to_bytes(2, 'big'))
    answer = connection.recv(65536)
    print('socks', answer[1] if len(answer) > 1 else 'closed')
    if len(answer) > 1 and answer[1] == 0:
        connection.sendall(request)
        print(text(connection))
