import { createServer } from 'node:http'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '@tollbook/localnet/httpServer'
import { openLocalService } from '../../src/cli/openLocalService.ts'
import { readConfig } from '../../src/config.ts'
import { silentLog } from '../../src/machine/log.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

const own = { kty: 'OKP', crv: 'Ed25519', x: 'the key of this home' }

/** A home whose `local.json` names a port at which a service with this key listens. */
async function openHome(listed: object) {
  const server = createServer((_, response) => response.end(JSON.stringify({ keys: [listed] })))
  const port = await listen(server, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => void server.close())
  const home = await makeScratchDirectory()
  const baseUrl = `http://127.0.0.1:${port}`
  const local = { baseUrl, rpcUrl: baseUrl, tokenMint: 'T', paymentWallet: 'P', receiptKey: own }
  await writeFile(join(home, 'local.json'), JSON.stringify(local))
  const config = readConfig({ TOLLBOOK_HOME: home, HOST: '127.0.0.1', PORT: String(port) }, { start: 'local' })
  return openLocalService(config, { log: silentLog, onProgress: () => undefined })
}

test('a running service of this home is used', async () => {
  const service = await openHome({ ...own, kid: 'k' })
  expect(service.started).toBe(false)
})

test('a service of another home at the same port is not taken for that of this home', async () => {
  await expect(openHome({ ...own, x: 'the key of another home' })).rejects.toThrow(/port/)
})
