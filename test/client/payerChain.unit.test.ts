import { TOKEN_2022_PROGRAM_ID } from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { readAddress } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { readBalance } from '@tollbook/client/node'
import { connectPayerChain } from '@tollbook/client/payerChain'
import { associatedTokenAccount } from '@tollbook/client/solana/programAddress'
import { openLoopbackServer } from '../support/loopbackServer.ts'
import { accountJson } from './support/scriptedNode.ts'
import { genesisHash, mintData, tokenAccountData } from './support/testToken.ts'

/* A mint of Token-2022 that withholds a fee, which rises in epoch 500. */

const mint = assertPresent(readAddress(Keypair.generate().publicKey.toBase58()), 'an address')
const owner = Keypair.generate().publicKey
const tokenProgram = TOKEN_2022_PROGRAM_ID.toBase58()
const account = associatedTokenAccount({ wallet: owner.toBase58(), mint, tokenProgram })

function mintWithFee(): Buffer {
  const data = Buffer.alloc(166 + 4 + 108)
  mintData().copy(data)
  data[165] = 1
  data.writeUInt16LE(1, 166)
  data.writeUInt16LE(108, 168)
  for (const [at, epoch, most, basisPoints] of [
    [170 + 72, 400n, 10n, 100],
    [170 + 90, 500n, 5n, 300],
  ] as const) {
    data.writeBigUInt64LE(epoch, at)
    data.writeBigUInt64LE(most, at + 8)
    data.writeUInt16LE(basisPoints, at + 16)
  }
  return data
}

/** A node that knows the mint, and the account of the owner under the program of the mint only. */
async function openNode() {
  let epoch = 499
  const node = await openLoopbackServer(({ body }, response) => {
    const { id, method, params } = JSON.parse(body)
    const accountOf = (address: string) => {
      if (address === mint) return { ...accountJson(mintWithFee()), owner: tokenProgram }
      if (address !== account) return null
      return { ...accountJson(tokenAccountData(owner, { baseUnits: 7n })), owner: tokenProgram }
    }
    const results: Record<string, unknown> = {
      getGenesisHash: genesisHash,
      getEpochInfo: { epoch },
      getMultipleAccounts: { value: params[0]?.map?.(accountOf) },
    }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }))
  })
  return { ...node, enter: (next: number) => void (epoch = next) }
}

test('a scheduled fee applies from its epoch on, and the most of both is known before', async () => {
  const node = await openNode()
  const chain = connectPayerChain({ rpcUrl: node.url })
  const most = { basisPoints: 300, maximumBaseUnits: 10n }
  const feeIn = async (epoch: number) => {
    node.enter(epoch)
    return (await chain.readToken({ mint, paymentTokenAccount: account })).mint?.transferFee
  }
  expect(await feeIn(499)).toEqual({ now: { basisPoints: 100, maximumBaseUnits: 10n }, most })
  expect(await feeIn(500)).toEqual({ now: { basisPoints: 300, maximumBaseUnits: 5n }, most })
})

test('the balance of a wallet is read from its account under the program of the mint', async () => {
  const node = await openNode()
  const question = { rpcUrl: node.url, wallet: owner.toBase58(), mint }
  expect(await readBalance(question)).toEqual({ heldBaseUnits: 7n, decimals: 6, lamports: 0n })
  const other = Keypair.generate().publicKey.toBase58()
  await expect(readBalance({ ...question, mint: other })).rejects.toThrow('is not a mint on the chain')
  await expect(readBalance({ ...question, wallet: 'me' })).rejects.toThrow('is not an address')
})

test('a node that redirects gets no second request, because the other place could lie', async () => {
  const node = await openLoopbackServer((_asked, response) => response.writeHead(307, { location: '/other' }).end())
  const read = connectPayerChain({ rpcUrl: `${node.url}/?key=secret` }).latestBlockhash()
  await expect(read).rejects.toThrow(/^the Solana node at 127\.0\.0\.1:\d+ did not answer getLatestBlockhash$/)
  expect(node.asked).toHaveLength(1)
})
