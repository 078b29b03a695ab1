import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { requireFreePorts } from '../../src/start/http/freePorts.ts'
import { afterFile } from '../support/afterFile.ts'

const host = '127.0.0.1'

test('a port in use is named with its variable, and a free one is not refused', async () => {
  const other = createServer((socket) => socket.destroy()).listen(0, host)
  afterFile(() => void other.close())
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const any = { host, port: 0 }
  const messageOf = (variable: string) =>
    `port ${port} of ${host} is in use: stop the process that listens there, or set ${variable}`
  const ports = (server: { readonly host: string; readonly port: number }, health = any, listener = any) =>
    requireFreePorts({ server: { ...server, health }, finance: { listener } })
  await expect(ports({ host, port })).rejects.toThrow(messageOf('PORT'))
  await expect(ports(any, { host, port })).rejects.toThrow(messageOf('HEALTH_PORT'))
  await expect(ports(any, any, { host, port })).rejects.toThrow(messageOf('FINANCE_PORT'))
  await expect(ports(any)).resolves.toBeUndefined()
})

// Only Linux has every address of 127.0.0.0/8.
test.runIf(process.platform === 'linux')('a port that cannot be opened is named, without a stack', async () => {
  const other = createServer().listen(0, '127.0.0.2')
  afterFile(() => void other.close())
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const server = { host: '0.0.0.0', port, health: undefined }
  await expect(requireFreePorts({ server, finance: undefined })).rejects.toThrow(
    new RegExp(`^port ${port} of 0.0.0.0 cannot be opened \\(Error: listen EADDRINUSE.*\\): set PORT to another port`),
  )
})

test.each([
  ['HOST', { server: { host: '192.0.2.1', port: 3402, health: undefined }, finance: undefined }],
  ['HEALTH_HOST', { server: { host, port: 0, health: { host: 'no.such.host.invalid', port: 1 } }, finance: undefined }],
  [
    'FINANCE_HOST',
    { server: { host, port: 0, health: undefined }, finance: { listener: { host: '192.0.2.1', port: 0 } } },
  ],
])('%s is refused when it is not an address of this machine', async (name, settings) => {
  await expect(requireFreePorts(settings)).rejects.toThrow(new RegExp(`^${name} must be an address of this machine`))
})
