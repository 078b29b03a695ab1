import { describe, expect, test } from 'vitest'
import { findUrlProblem, isGlobalAddress } from '../../src/outbound/urlGuard.ts'

describe('may be tried', () => {
  test.each([
    'https://example.com/',
    'http://93.184.216.34/',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/',
    'http://bücher.example/ä?q=ö#x',
    'https://example.com:443/a%20b',
    'HTTP://EXAMPLE.COM/',
  ])('%s', (url) => {
    expect(findUrlProblem(url)).toBeUndefined()
  })
})

describe('is refused before a quote', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://017700000001/',
    'http://0/',
    'http://127.0.0.1./',
    'http://１２７.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http://127.0.0.1\\@example.com/',
    'http:///127.0.0.1/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:4136:e378::]/',
    'http://[fe80::1%25eth0]/',
    'http://169.254.169.254/',
    'http://169.254.43518/',
    'http://168.63.129.16/',
    'http://100.100.100.200/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.0.1/',
    'http://100.64.0.1/',
    'http://198.18.0.1/',
    'http://240.0.0.1/',
    'http://224.0.0.1/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://foo.localhost/',
    'http://printer.local/',
    'http://metadata.google.internal/',
    'file:///etc/passwd',
    'FILE:///etc/passwd',
    'ftp://example.com/',
    'javascript:alert(1)',
    'data:text/html,x',
    'chrome://version',
    'view-source:http://example.com/',
    'http:example.com',
    'example.com',
    '//example.com/',
    '',
    'http://',
    'http://exa mple.com/',
    'http://example.com/\r\nX: 1',
    'http://xn--/',
    'http://1.2.3.4.5/',
    'http://example.com:22/',
    'http://user:pass@example.com/',
    ' https://example.com/',
    'https://example.com/\ud800',
    `https://example.com/${'a'.repeat(2_048)}`,
  ])('%s', (url) => {
    expect(findUrlProblem(url)).toMatch(/^(must|is)/)
  })
})

test('only global unicast is global', () => {
  expect(['8.8.8.8', '2606:4700::1'].every(isGlobalAddress)).toBe(true)
  expect(
    ['::7f00:1', '100:0:0:1::1', '4000::1', 'e000::1', '3fff::1', '2001:db8::1', '255.255.255.255', 'text'].some(
      isGlobalAddress,
    ),
  ).toBe(false)
})
