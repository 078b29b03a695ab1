import '@tollbook/core/quietBindings'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import { Connection, LAMPORTS_PER_SOL, PublicKey, Transaction } from '@solana/web3.js'
import pg from 'pg'
import { z } from 'zod'
import { audit } from '@tollbook/audit'
import { readHolderSnapshot } from '@tollbook/audit/holderSnapshot'
import { assert, assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { randomToken } from '@tollbook/core/id'
import { createService } from '../../src/compose.ts'
import { isServiceConfig, readConfig } from '../../src/config.ts'
import { openPayout } from '../../src/payout/openPayout.ts'
import { planText } from '../../src/payout/planText.ts'
import { silentLog } from '../../src/machine/log.ts'
import { buy } from '../support/ask.ts'
import { addressOf } from '../support/feePayerKey.ts'
import { type HoldersDeath, holdersDeaths } from './holders/holdersDeath.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { openEnvironment } from './proofEnvironment.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * The share of the holders is divided among thousands of token accounts, and the process that pays is killed at each
 * step. At the end each holder has exactly its line more, the ledger equals the chain, and the audit derives each line
 * from the snapshot.
 */

const command = proofCommand(
  'holders',
  'A share is paid to each holder once, although the payout is killed at every step.',
)
const { holders: count } = command
  .option('--holders <n>', 'number of holders', wholeNumber, 10_000)
  .parse()
  .opts<{ readonly holders: number }>()

await using opened = new AsyncDisposableStack()
const environment = opened.use(await openEnvironment())
const { chain, env, database, demoWallet, paymentWallet, directory } = environment
const mint = new PublicKey(env['TOKEN_MINT'] ?? '')
const connection = new Connection(chain.rpcUrl, { commitment: 'confirmed', wsEndpoint: chain.wsUrl })
for (const { publicKey } of [demoWallet, paymentWallet])
  await connection.requestAirdrop(publicKey, 1_000 * LAMPORTS_PER_SOL)

const tokenAccounts = new Map<PublicKey, PublicKey>()

function tokenAccountOf(owner: PublicKey): PublicKey {
  const account = tokenAccounts.get(owner) ?? getAssociatedTokenAddressSync(mint, owner, true)
  tokenAccounts.set(owner, account)
  return account
}

/** Holders with different balances; their token accounts are opened by the demo wallet. */
async function openHolders(): Promise<readonly PublicKey[]> {
  const owners = Array.from({ length: count }, () => new PublicKey(randomBytes(32)))
  const source = getAssociatedTokenAddressSync(mint, demoWallet.publicKey)
  const inTransaction = 8
  let blockhash = ''
  const sending: Promise<string>[] = []
  for (let from = 0; from < count; from += inTransaction) {
    // A blockhash lives for 150 slots.
    if (from % 160 === 0) ({ blockhash } = await connection.getLatestBlockhash())
    const transaction = new Transaction({ feePayer: demoWallet.publicKey, recentBlockhash: blockhash })
    for (const [index, owner] of owners.slice(from, from + inTransaction).entries()) {
      const account = tokenAccountOf(owner)
      transaction.add(createAssociatedTokenAccountIdempotentInstruction(demoWallet.publicKey, account, owner, mint))
      const balance = 5_000 + (((from + index) * 7_919) % 9_973)
      transaction.add(createTransferInstruction(source, account, demoWallet.publicKey, balance))
    }
    transaction.sign(demoWallet)
    sending.push(connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true }))
    if (sending.length === 16) await Promise.all(sending.splice(0))
    if (from % 2_000 === 0) say(`${from} of ${count} holders have tokens`)
  }
  await Promise.all(sending)
  return owners
}

/** Token balances of the owners, a hundred at a time. */
async function balancesOf(owners: readonly PublicKey[]): Promise<ReadonlyMap<string, bigint>> {
  const balances = new Map<string, bigint>()
  for (let from = 0; from < owners.length; from += 100) {
    const some = owners.slice(from, from + 100)
    const infos = await connection.getMultipleAccountsInfo(some.map((owner) => tokenAccountOf(owner)))
    for (const [index, owner] of some.entries())
      balances.set(owner.toBase58(), infos[index]?.data.readBigUInt64LE(64) ?? 0n)
  }
  return balances
}

async function query(text: string): Promise<readonly object[]> {
  const client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()
  try {
    return (await client.query<object>(text)).rows
  } finally {
    await client.end()
  }
}

const owners = await openHolders()
const config = readConfig({ ...env, NEWS_POLLING: '0' })
assert(isServiceConfig(config), 'the service is configured')
const service = await createService(config, { log: silentLog })
opened.defer(() => service.close())
for (let sale = 1; sale <= 5; sale++)
  await buy({ baseUrl: `http://127.0.0.1:${service.port}`, payer: environment.payer })

const password = randomToken()
await query(`create role proof_payer login password '${password}' in role tollbook_payout`)
const payoutUrl = new URL(database.adminUrl)
payoutUrl.username = 'proof_payer'
payoutUrl.password = password
const { SOLANA_RPC_URLS: rpcUrl = '', TOKEN_MINT = '', PAYMENT_WALLET = '' } = env
// Two nodes decide that a part may be sent again. The local chain has one, whose word counts twice.
const rpcUrls = [rpcUrl, rpcUrl]
const payout = await openPayout({
  databaseUrl: payoutUrl.href,
  rpcUrls,
  tokenMint: TOKEN_MINT,
  paymentWallet: PAYMENT_WALLET,
  clock: systemClock,
  log: silentLog,
})
opened.defer(() => payout.close())
// The newest transfers are finalized 32 slots later.
await systemClock.sleep(3_000)
const { text: snapshotText, accounts, slot } = await payout.holders.snapshot()
const plan = assertPresent(
  await payout.holders.plan({
    share: 'holders',
    snapshotText,
    minimumBaseUnits: 1n,
    openAccountsMax: 0,
    // The payer of this proof holds nearly all tokens.
    excluded: [addressOf(demoWallet.publicKey.toBase58())],
  }),
  'a share is owed',
)
const lines = new Map(plan.parts.flat().map(({ wallet, baseUnits }) => [String(wallet), baseUnits]))
const amount = plan.holders?.amountBaseUnits ?? 0n
say(
  `${accounts} token accounts at slot ${slot}; ${amount} base units in ${lines.size} lines and ${plan.parts.length} parts`,
)
const [planFile, keypairFile] = [`${directory}/plan.json`, `${directory}/payment-wallet.json`]
await writeFile(planFile, planText(plan))
await writeFile(keypairFile, JSON.stringify([...paymentWallet.secretKey]))
const before = await balancesOf(owners)

const program = fileURLToPath(new URL('holders/holdersProcess.ts', import.meta.url))
const processEnv = {
  SOLANA_RPC_URLS: rpcUrls.join(','),
  TOKEN_MINT,
  PAYMENT_WALLET,
  PAYOUT_DATABASE_URL: payoutUrl.href,
}

/** Resolves with the signal or the code that ended the process. */
async function runProcess(death?: HoldersDeath): Promise<string> {
  const words = [program, planFile, keypairFile, ...(death === undefined ? [] : [death])]
  const child = spawn(process.execPath, words, { env: processEnv, stdio: ['ignore', 'ignore', 'inherit'] })
  await once(child, 'exit')
  return child.signalCode ?? String(child.exitCode)
}

let kills = 0
const wrong: string[] = []
for (const death of holdersDeaths) {
  const ended = await runProcess(death)
  say(`killed ${death}: ${ended}`)
  if (ended === 'SIGKILL') kills += 1
  else if (count >= 5_000) wrong.push(`the process was not killed ${death}, but ended with ${ended}`)
}
const last = await runProcess()
if (last !== '0') wrong.push(`the last run ended with ${last}`)
say('paid to its end')

const after = await balancesOf(owners)
const differing = owners.filter((owner) => {
  const name = owner.toBase58()
  return (after.get(name) ?? 0n) - (before.get(name) ?? 0n) !== (lines.get(name) ?? 0n)
})
if (differing.length > 0) wrong.push(`${differing.length} holders did not receive exactly their line`)
const [sums] = z.array(z.object({ paid: z.string(), parts: z.string(), owed: z.string(), wallet: z.string() })).parse(
  await query(`select
      (select coalesce(sum((p.paid ->> 'paidBaseUnits')::numeric), 0)::text from ledger.events e,
        jsonb_array_elements(convert_from(e.body, 'UTF8')::jsonb -> 'payments') as p (paid) where e.kind = 'DistributionPaid') as paid,
      (select count(*)::text from ledger.events where kind = 'DistributionPaid') as parts,
      (select (-balance)::text from ledger.accounts where name = 'Liabilities:Share:holders') as owed,
      (select balance::text from ledger.accounts where name = 'Assets:PaymentWallet') as wallet`),
)
const onChain = (await balancesOf([paymentWallet.publicKey])).get(paymentWallet.publicKey.toBase58())
if (sums?.paid !== String(amount) || sums.owed !== '0')
  wrong.push(`${sums?.paid} were paid of ${amount}; ${sums?.owed} owed`)
if (sums?.parts !== String(plan.parts.length)) wrong.push(`${sums?.parts} parts are recorded of ${plan.parts.length}`)
if (sums?.wallet !== String(onChain)) wrong.push(`the wallet has ${onChain} on chain and ${sums?.wallet} in the ledger`)

const { findings, verdicts } = await audit({
  source: { kind: 'database', url: database.adminUrl },
  verifierKeys: [],
  ownCheckpoints: [],
  snapshots: [assertPresent(readHolderSnapshot(snapshotText), 'the audit reads the snapshot')],
  transactions: true,
  chain: { rpcUrl: chain.rpcUrl, paymentWallet: PAYMENT_WALLET, fetch, recordedWithinMs: 0 },
  resumeFile: undefined,
  clock: systemClock,
})
wrong.push(...findings.map(({ code, message }) => `audit: ${code}: ${message}`))
concludeProof({
  holds: wrong.length === 0,
  lines: [
    `${kills} kills; ${lines.size} holders received ${sums?.paid} base units in ${sums?.parts} transactions`,
    `audit: arithmetic ${verdicts.arithmetic.status}, chain ${verdicts.chainTruth.status}, ${findings.length} findings`,
    ...wrong.slice(0, 20),
  ],
})
