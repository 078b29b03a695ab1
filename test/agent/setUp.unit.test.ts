import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setUp } from '@tollbook/agent/setUp/setUp'
import { openWalletFolder, walletFolder } from '@tollbook/agent/walletFolder'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'

test('mcp init says that the chain of local mode has moved since the policy was written', async () => {
  const folder = walletFolder(join(await makeScratchDirectory(), 'wallet'))
  await openWalletFolder(folder)
  const policy = {
    rpcUrl: 'http://127.0.0.1:1001',
    hosts: { '127.0.0.1:3402': {} },
    mints: { EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v: { name: 'token', usdPerToken: '0.001' } },
    limits: { perRequestUsd: '0.25', perDayUsd: '1' },
    confirmAboveUsd: '0.25',
  }
  await writeFile(folder.policy, JSON.stringify(policy), { mode: 0o600 })
  const init = async (rpcUrl: string) => {
    const printed: string[] = []
    const local = { baseUrl: 'http://127.0.0.1:3402', rpcUrl }
    const write = (text: string) => void printed.push(text)
    await setUp({ folder, service: undefined, rpcUrl: undefined, local, write })
    return printed.join('')
  }
  expect(await init('http://127.0.0.1:1002')).toContain(
    'set its rpcUrl to http://127.0.0.1:1002: the chain of local mode',
  )
  expect(await init('http://127.0.0.1:1001')).not.toContain('set its rpcUrl')
})
