import { Keypair } from '@solana/web3.js'
import { TOKEN_PROGRAM_ID, burnChecked, getAssociatedTokenAddressSync, transferChecked } from '@solana/spl-token'
import { expect, test } from 'vitest'
import { readNodeBehaviour } from '@tollbook/localnet/nodeBehaviour'
import { awaitThat } from '../../support/awaitThat.ts'
import { call, connectTo, eventually, openChain, post } from './testChain.ts'
import { found, openNodes, send, signed } from './testNodes.ts'
import { confirmed, createPurse, decimals } from './tokenPurse.ts'

test('a node without history knows recent statuses, and says which of the two kinds it is', async () => {
  const opened = await openNodes({}, { historySlots: 0 }, { noHistory: true }, { nullAnswers: true })
  const { chain, at, node, wallet } = opened
  const signature = await send(node(0), await signed(opened, wallet))
  chain.advanceSlots(1)
  const ask = async (index: number) => {
    const { rpcUrl } = node(index)
    const replies = [
      await call({ rpcUrl }, 'getTransaction', signature, found),
      await call({ rpcUrl }, 'getSignaturesForAddress', wallet.publicKey.toBase58()),
      await call({ rpcUrl }, 'getSignatureStatuses', [signature], { searchTransactionHistory: true }),
    ]
    return replies.map(({ error, result }) => error?.code ?? /"meta"|"confirmationStatus"/.test(JSON.stringify(result)))
  }

  expect(await ask(0)).toEqual([true, true, true])
  expect(await ask(1)).toEqual([false, false, true])
  expect(await ask(2)).toEqual([-32011, -32011, -32011])
  expect(await ask(3)).toEqual([false, false, false])
  expect((await at(2).getSignatureStatus(signature)).value).not.toBeNull()
  chain.advanceSlots(301)
  expect(await ask(1)).toEqual([false, false, false])
})

test('a lying node hides one transaction, and makes up a record for another that was never sent', async () => {
  const opened = await openNodes({}, {})
  const { chain, at, node, wallet } = opened
  const [landed, hidden] = [Keypair.generate(), Keypair.generate()].map(({ publicKey }) => publicKey)
  const template = await send(node(0), await signed(opened, wallet, landed))
  const denied = await send(node(0), await signed(opened, wallet, hidden))
  chain.advanceSlots(1)
  const unknown = '1'.repeat(63) + '2'
  chain.setNode(1, { hide: [denied], forge: template })

  const read = async (index: number, signature: string) =>
    (await at(index).getTransaction(signature, found))?.transaction.signatures ?? null
  expect([await read(0, denied), await read(0, unknown)]).toEqual([[denied], null])
  expect([await read(1, denied), await read(1, unknown)]).toEqual([null, [unknown]])
  expect((await at(1).getSignatureStatus(unknown)).value).not.toBeNull()
  expect(await at(1).getSignaturesForAddress(wallet.publicKey)).toHaveLength(2)
})

test('changed amounts agree with each other in instructions and balances, and the wire form has them too', async () => {
  const { chain, connection } = await openChain({ slotMs: 20, nodes: [{}, { amounts: 50 }, { lag: 12 }] })
  const { payer, mint, source, destination, owner } = await createPurse(connection, TOKEN_PROGRAM_ID)
  const [, liar, late] = chain.nodes.map(connectTo)
  const before = await connection.getSlot('processed')
  await eventually(async () => ((await late?.getSlot('processed')) ?? 0) >= before || undefined)
  const burned = await burnChecked(connection, payer, source, mint, payer, 400n, decimals, [], confirmed)
  const sent = await transferChecked(connection, payer, source, mint, destination, payer, 800n, decimals, [], confirmed)

  const amountsIn = async (signature: string) => {
    const record = await liar?.getParsedTransaction(signature, found)
    const raw = await call(chain.nodes[1] ?? chain, 'getTransaction', signature, { ...found, encoding: 'base64' })
    const { preTokenBalances = [], postTokenBalances = [] } = record?.meta ?? {}
    const moved = postTokenBalances?.map(({ uiTokenAmount }, index) =>
      Math.abs(Number(uiTokenAmount.amount) - Number(preTokenBalances?.[index]?.uiTokenAmount.amount)),
    )
    return { text: JSON.stringify(record?.transaction.message.instructions), moved, raw: JSON.stringify(raw.result) }
  }
  expect(await amountsIn(burned)).toMatchObject({ text: expect.stringContaining('"amount":"200"'), moved: [200] })
  const transfer = await amountsIn(sent)
  expect(transfer).toMatchObject({ text: expect.stringContaining('"amount":"400"'), moved: [400, 400] })
  const honest = await call(chain, 'getTransaction', sent, { ...found, encoding: 'base64' })
  expect(transfer.raw).not.toBe(JSON.stringify(honest.result))

  chain.setNode(2, { lag: 500 })
  expect((await late?.getTokenAccountsByOwner(owner, { programId: TOKEN_PROGRAM_ID }, 'confirmed'))?.value).toEqual([])
  const account = getAssociatedTokenAddressSync(mint, owner)
  expect(await late?.getAccountInfo(account, 'confirmed')).toBeNull()
})

test('a failing node fails for every method, or for the named ones, but can still be told to recover', async () => {
  const { chain, node } = await openNodes({}, { fail: 'tooManyRequests' })
  const bodyOf = (method: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })

  expect((await post(node(1), bodyOf('getSlot'))).status).toBe(429)
  chain.setNode(1, { fail: 'unavailable', only: ['getSlot'] })
  expect([(await post(node(1), bodyOf('getSlot'))).status, (await post(node(1), bodyOf('getHealth'))).status]).toEqual([
    503, 200,
  ])
  chain.setNode(1, { fail: 'disconnect' })
  await expect(post(node(1), bodyOf('getSlot'))).rejects.toThrow('fetch failed')
  chain.setNode(1, { fail: 'hang' })
  const leaving = new AbortController()
  const hanging = fetch(node(1).rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: bodyOf('getSlot'),
    signal: leaving.signal,
  })
  const counted = async () => Object((await call(node(0), 'localnet_requestCounts', 1)).result).getSlot
  await awaitThat('the node has the request', async () => (await counted()) === 4)
  leaving.abort()
  await expect(hanging).rejects.toThrow('aborted')
  expect((await call(node(1), 'localnet_nodes')).result).toMatchObject([
    { behaviour: {} },
    { behaviour: { fail: 'hang' } },
  ])
  expect((await call(node(1), 'localnet_setNode', 1, { lag: 3 })).result).toBeNull()
  expect((await call(node(1), 'getHealth')).result).toBe('ok')
  expect((await call(node(0), 'localnet_requestCounts', 1)).result).toEqual({ getSlot: 4, getHealth: 2 })
})

test('a node claims that a transaction landed which it never passed on, and that another failed', async () => {
  const opened = await openNodes({}, { claimSends: true, failRecords: true })
  const { chain, at, node, wallet } = opened
  const transfer = await signed(opened, wallet, Keypair.generate().publicKey)
  const claimed = await send(node(1), transfer)
  const landed = await send(node(0), await signed(opened, wallet))
  chain.advanceSlots(1)
  const read = async (index: number, signature: string) => {
    const record = await at(index).getTransaction(signature, found)
    const status = await at(index).getSignatureStatus(signature)
    return [record?.meta?.err, status.value?.err]
  }
  const error = { InstructionError: [0, { Custom: 1 }] }

  expect([await read(0, claimed), await read(0, landed)]).toEqual([
    [undefined, undefined],
    [null, null],
  ])
  expect([await read(1, claimed), await read(1, landed)]).toEqual([
    [null, null],
    [error, error],
  ])
  chain.setNode(1, {})
  expect(await read(1, claimed)).toEqual([undefined, undefined])
  expect(await send(node(1), transfer)).toBe(claimed)
})

test('a node that drops what it is sent says that it has passed it on', async () => {
  const opened = await openNodes({}, { dropSends: true })
  const { chain, at, node, wallet } = opened
  const signature = await send(node(1), await signed(opened, wallet))
  chain.advanceSlots(1)

  expect((await at(0).getSignatureStatus(signature)).value).toBeNull()
})

test('a behaviour is refused with the option that is wrong', async () => {
  const { chain, node } = await openNodes({})

  expect(readNodeBehaviour('lag=12,freeze')).toEqual({ lag: 12, freeze: true })
  expect(readNodeBehaviour('healthy')).toEqual({})
  expect(readNodeBehaviour('fail=too-many-requests,only=getSlot+getTransaction,no-history')).toEqual({
    fail: 'tooManyRequests',
    only: ['getSlot', 'getTransaction'],
    noHistory: true,
  })
  expect(() => readNodeBehaviour('lag=far')).toThrow('lag: ')
  expect(() => readNodeBehaviour('lags=3')).toThrow('"lags"')
  expect(() => readNodeBehaviour('fork,other-genesis')).toThrow('a node of another network has no fork')
  expect((await call(node(0), 'localnet_setNode', 0, { lag: 513 })).error?.code).toBe(-32602)
  expect((await call(node(0), 'localnet_setNode', 3, {})).error?.message).toContain('there are 1 nodes, and no node 3')
  expect(() => chain.setNode(3, {})).toThrow('no node 3')
})
