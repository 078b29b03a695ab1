import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { docsOf, type ErrorCode, errorCodes } from '@tollbook/client/errorCode'
import { openPaymentFolder, readKeypairFile } from '@tollbook/client/node'
import type { PayingFetchOptions } from '@tollbook/client/payer'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openScene, rejectionOf, type Scene } from './support/payerScene.ts'
import type { Step } from './support/scriptedService.ts'

const crypto = '/api/data/crypto?symbol=BTC'

/** The error of a purchase in a scene that was changed. */
async function errorOf(change: (scene: Scene) => unknown, options?: Partial<PayingFetchOptions>): Promise<unknown> {
  const scene = await openScene({ retry: { attemptsMax: 1 }, ...options })
  await change(scene)
  return rejectionOf(scene.payingFetch(scene.url(crypto)))
}

const answer = (status: number, code: string, more: object = {}): Step => {
  return { status, body: { error: 'no', code, ...more } }
}
const answering = (step: Step) => errorOf(({ service }) => (service.script = [step]))
const total = { perRequest: { usd: '0.05' }, total: { usd: '0.01' } }

async function damagedFolder(): Promise<unknown> {
  const folder = await makeScratchDirectory()
  await writeFile(join(folder, 'abc.json'), '{}')
  return errorOf(() => undefined, { store: openPaymentFolder(folder) })
}

/** Provokes the error of each code. */
const errors: Readonly<Record<ErrorCode, () => Promise<unknown>>> = {
  FOLDER_UNUSABLE: damagedFolder,
  INSUFFICIENT_FUNDS: () => errorOf(({ service }) => (service.node.payer = { tokens: 'no account', lamports: 0 })),
  INVALID_OPTION: async () => rejectionOf((await openScene()).payingFetch('http://pay.example/')),
  KEYPAIR_UNREADABLE: () => rejectionOf(readKeypairFile('/nowhere/payer.json')),
  NODE_REFUSED: () =>
    errorOf(({ service: { node } }) => {
      node.answers['getGenesisHash'] = () => ({ error: { code: -32_602, message: 'no' } })
    }),
  NODE_UNAVAILABLE: () => errorOf(({ service: { node } }) => (node.answers['getGenesisHash'] = () => 'broken')),
  PAYMENT_NOT_SENT: () =>
    errorOf(() => undefined, {
      onEvent: ({ kind }) => (kind === 'signed' ? Promise.reject(new Error('full')) : undefined),
    }),
  PAYMENT_REFUSED: () => answering(answer(402, 'INVALID_PAYMENT', { reason: 'too_old' })),
  PAYMENT_UNRESOLVED: () => answering('reset'),
  PAYMENT_UNSPENT: () => answering(answer(404, 'NO_DATA')),
  QUOTE_REFUSED: () => errorOf(() => undefined, { expectedMint: Keypair.generate().publicKey.toBase58() }),
  SERVICE_UNAVAILABLE: () => errorOf(({ service }) => (service.quote = () => 'stall')),
  SPENDING_LIMIT_EXCEEDED: () => errorOf(() => undefined, { spendingLimit: total }),
}

test('a folder that cannot be made carries its code too', async () => {
  const error = await errorOf(() => undefined, { store: openPaymentFolder('/dev/null') })
  expect(error).toMatchObject({ code: 'FOLDER_UNUSABLE', message: '/dev/null/turns cannot be used as a folder' })
})

test.each(errorCodes)('the error %s carries its code and its page', async (code) => {
  const error = await errors[code]()
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({ code, docs: docsOf(code) })
})

test('each code has a section in docs/sdk.md at the anchor that the error names, and each section has a code', async () => {
  const page = await readFile(new URL('../../docs/sdk.md', import.meta.url), 'utf8')
  const sections = [...page.matchAll(/^#### ([A-Z_]+)$/gm)].map(([, title = '']) => title)
  expect(sections).toEqual([...errorCodes])
  for (const title of sections) expect(errorCodes.map(docsOf)).toContain(`docs/sdk.md#${title.toLowerCase()}`)
})
