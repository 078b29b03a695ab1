import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLocal } from '../../src/cli/localJson.ts'
import { readSealSource, requireUrl } from '../../src/cli/sealSource.ts'
import { openTerminal } from './support/terminal.ts'

const local = {
  baseUrl: 'http://127.0.0.1:3402',
  rpcUrl: 'http://127.0.0.1:8899',
  tokenMint: 'mint',
  paymentWallet: 'wallet',
  receiptKey: { kty: 'OKP' },
}

/** A home in which local mode has run. The sources read only its folder. */
async function openHome(content?: unknown) {
  const terminal = await openTerminal()
  if (content !== undefined) await terminal.writeFile('local.json', content)
  const { home } = terminal
  const deps = {
    stdout: { write: () => undefined },
    stderr: { write: () => undefined },
    home: () => home,
    setExitCode: () => undefined,
    interrupted: new AbortController().signal,
    clock: terminal.clock,
  }
  return { ...terminal, deps }
}

test('relative paths in local.json start at its folder, so that the folder may move', async () => {
  const keypairs = {
    demoWallet: { address: 'a', keypairPath: 'keys/demo.json' },
    mintAuthorityKeypairPath: '/elsewhere/mint.json',
  }
  const { home, deps } = await openHome({ ...local, ...keypairs })
  expect(await readLocal(deps)).toEqual({
    ...local,
    demoWallet: { address: 'a', keypairPath: join(home, 'keys', 'demo.json') },
    mintAuthorityKeypairPath: '/elsewhere/mint.json',
  })
  const { deps: empty } = await openHome()
  expect(await readLocal(empty)).toBeUndefined()
})

test.each([
  ['{', 'is damaged'],
  [{ ...local, rpcUrl: 'no address' }, 'is damaged (rpcUrl: '],
  [{ ...local, tokenMint: undefined }, 'is damaged (tokenMint: '],
])('a damaged local.json is named with its field (%j)', async (content, problem) => {
  const { deps } = await openHome(content)
  await expect(readLocal(deps)).rejects.toThrow(problem)
})

test('a local.json that cannot be read does not count as missing', async () => {
  const { home, deps } = await openHome()
  await mkdir(join(home, 'local.json'))
  await expect(readLocal(deps)).rejects.toThrow(`${join(home, 'local.json')} cannot be read`)
})

test('the key of local mode is used for its own service, and for no other', async () => {
  const { deps, writeFile } = await openHome(local)
  const own = { baseUrl: local.baseUrl, keys: local.receiptKey, localRpcUrl: local.rpcUrl }
  expect(await readSealSource(deps, {})).toEqual(own)
  const samePlace = `${local.baseUrl}/till`
  expect(await readSealSource(deps, { baseUrl: samePlace })).toEqual({ ...own, baseUrl: samePlace })
  const other = { baseUrl: 'https://till.example' }
  await expect(readSealSource(deps, other)).rejects.toThrow('--key: is missing: the public key of the service')
  const key = await writeFile('key.json', { keys: [] })
  expect(await readSealSource(deps, { ...other, key })).toEqual({
    ...other,
    keys: { keys: [] },
    localRpcUrl: undefined,
  })
  const { deps: empty } = await openHome()
  await expect(readSealSource(empty, {})).rejects.toThrow('--base-url: is missing')
})

test('a URL is one of HTTP', () => {
  for (const url of ['ftp://node', 'node', 'http://', 'https://a b'])
    expect(() => requireUrl('--rpc-url', url), url).toThrow(`--rpc-url: ${url} is not a URL that begins with https://`)
  expect(requireUrl('--rpc-url', 'https://node/path')).toBe('https://node/path')
})
