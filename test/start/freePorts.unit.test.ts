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
