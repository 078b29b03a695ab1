import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { addressList, clientAddress, limitKey, networkKey } from '../../src/transport/clientAddress.ts'

function requestFrom(address: string, forwardedFor?: string): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: address })
  const request = new IncomingMessage(socket)
  if (forwardedFor !== undefined) request.headers['x-forwarded-for'] = forwardedFor
  return request
}

test('a forwarded address is not believed when the operator runs no proxy', () => {
  expect(clientAddress(requestFrom('203.0.113.9', '1.2.3.4'), 0)).toBe('203.0.113.9')
})

test('as many hops are believed as the operator runs, counted from our end', () => {
  const forged = '6.6.6.6, 198.51.100.7, 10.0.0.2'
  expect(clientAddress(requestFrom('10.0.0.1', forged), 1)).toBe('10.0.0.2')
  expect(clientAddress(requestFrom('10.0.0.1', forged), 2)).toBe('198.51.100.7')
})

test('a forwarded value that is not an address counts as the proxy itself', () => {
  expect(clientAddress(requestFrom('10.0.0.1', 'unknown'), 1)).toBe('10.0.0.1')
  expect(clientAddress(requestFrom('10.0.0.1', ' '.repeat(100_000)), 1)).toBe('10.0.0.1')
})

test('one client is one key: IPv4 in whichever clothes, IPv6 by its /64', () => {
  expect(clientAddress(requestFrom('::ffff:127.0.0.1'), 0)).toBe('127.0.0.1')
  expect(clientAddress(requestFrom('10.0.0.1', '::FFFF:7f00:1'), 1)).toBe('127.0.0.1')
  expect(limitKey('2001:db8:1:2:3:4:5:6')).toBe(limitKey('2001:db8:1:2:ffff::1'))
  expect(limitKey('2001:db8::1')).toBe(limitKey('2001:db8::2'))
  expect(limitKey('2001:DB8:0:0:1::')).toBe(limitKey('2001:db8::192.0.2.7'))
  expect(limitKey('2001:db8:0:1::1')).not.toBe(limitKey('2001:db8::1'))
  expect(limitKey('::1')).not.toBe(limitKey('2001::1'))
  expect(limitKey('fe80::1%eth0')).toBe(limitKey('fe80::2'))
  expect(limitKey('192.0.2.1')).not.toBe(limitKey('192.0.2.2'))
})

test('a list of subnets knows its members', () => {
  const mayRead = addressList(['127.0.0.0/8', '::1/128'])
  expect(['127.0.0.1', '::1', '10.0.0.1', '', 'x'].map(mayRead)).toEqual([true, true, false, false, false])
})

test('the networks of one IPv6 customer have one /48, and an IPv4 address has none', () => {
  expect(networkKey(limitKey('2001:db8:1:2::3'))).toBe('2001:db8:1::/48')
  expect(networkKey(limitKey('2001:db8:1:ffff:4::'))).toBe('2001:db8:1::/48')
  expect(networkKey(limitKey('2001:db8::1'))).toBe('2001:db8:0::/48')
  expect(networkKey(limitKey('192.0.2.1'))).toBeUndefined()
})
