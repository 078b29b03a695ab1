import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  sendAndConfirmTransaction,
  SystemProgram,
  Transaction,
} from '@solana/web3.js'
import { Pool } from 'pg'
import { z } from 'zod'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Json } from '@tollbook/core/canonicalJson'
import type { PaymentChange, PaymentLedger } from '../../../src/payment/paymentLedger.ts'
import { makeReceiptKey } from '../../../src/cli/local/home.ts'
import { publicReceiptKey } from '../../../src/settings/receiptKeys.ts'
import { valueWithOverlap } from '../../../src/settings/settingPeriods.ts'
import { silentLog } from '../../../src/machine/log.ts'
import { signingTerms } from '../../../src/signer/feePayerSigner.ts'
import { openSigner, type SignerOptions } from '../../../src/signer/openSigner.ts'
import { openSettingChanges } from '../../../src/store/settingChanges.ts'
import { afterFile } from '../../support/afterFile.ts'
import { addressOf, signerKey } from '../../support/feePayerKey.ts'
import { makeMemberLogin } from '../../support/memberLogin.ts'
import { delivers, withEndpoint } from '../../support/scriptedEndpoint.ts'
import { makeScratchDirectory } from '../../support/scratchDirectory.ts'
import { openTestSignatures } from '../../support/signatureStore.ts'
import { shiftedClock } from '../../support/shiftedClock.ts'
import { openTestEndpoint } from '../../support/testProduct.ts'
import { openTestService } from '../../support/testService.ts'
import { openX402Service } from '../../support/x402Service.ts'
import type { Change, State } from './cells.ts'

/** An environment whose operator changes one thing after the other, with the instance that serves at the moment. */
export interface Scene {
  readonly rpcUrl: string
  readonly tokenMint: string
  readonly folder: string
  baseUrl(): string
  /** Wallets with tokens and SOL. */
  fund(count: number): Promise<readonly Keypair[]>
  /** The next request of the wallet ends in this state; its caller gets no answer unless it is `sent`. */
  interrupt(wallet: Keypair, state: State): void
  apply(change: Change): Promise<void>
  /** Lets the time pass in which the request of a payment may still be running. */
  passRequests(): Promise<void>
  facts(wallet: Keypair): Promise<Facts>
}

/** All that a wallet has bought. */
export interface Facts {
  readonly payments: number
  readonly deliveries: number
  /** Number of handler runs. */
  readonly runs: number
  /** Phase of each payment. */
  readonly phases: readonly string[]
  readonly references: readonly string[]
}

/** The append at which a request dies, and whether the ledger took it. */
const deaths: Readonly<Partial<Record<State, readonly [event: string, when: 'before' | 'after']>>> = {
  submitted: ['PaymentSubmitted', 'after'],
  landed: ['ProofClaimed', 'before'],
  verified: ['ProofClaimed', 'after'],
  unsent: ['RequestFulfilled', 'after'],
}

const lost = new Fault('the process died', { retryable: true })
const env = { HANDLER_TIMEOUT_MS: '500' }

export async function openScene(): Promise<Scene> {
  const states = new Map<string, State>()
  const runs = new Map<string, number>()
  const failing = new Set<string>()

  function dying(inner: PaymentLedger): PaymentLedger {
    const payers = new Map<string, string>()
    const payerOf = ({ reference, events }: PaymentChange): string => {
      for (const event of events)
        if ('wallet' in event && event.wallet !== undefined) payers.set(reference, event.wallet)
      return payers.get(reference) ?? ''
    }
    return {
      ...inner,
      async append(change) {
        const payer = payerOf(change)
        const [event, when] = deaths[states.get(payer) ?? 'sent'] ?? []
        const isHit = change.events.some(({ kind }) => kind === event)
        if (isHit) states.delete(payer)
        if (isHit && when === 'before') throw lost
        const outcome = await inner.append(change)
        if (isHit) throw lost
        return outcome
      },
    }
  }

  const endpoint = openTestEndpoint({
    path: '/api/data/crypto',
    parameters: z.strictObject({ symbol: z.string() }),
    deliver: (_parameters, { payer }) => {
      runs.set(payer, (runs.get(payer) ?? 0) + 1)
      return Promise.resolve(
        failing.delete(payer) ? { kind: 'failed', code: 'UPSTREAM_FAILED', message: 'not now' } : delivers,
      )
    },
  })
  const seams = { ledger: dying, endpoints: withEndpoint({ endpoint }) }
  const first = await openX402Service({ env, seams })
  const { native, tokenMint, signerOptions, env: offering } = first
  const { database, chain, demoWallet } = native
  const connection = new Connection(chain.rpcUrl, 'confirmed')
  const admin = new Pool({ connectionString: database.adminUrl, max: 4 })
  afterFile(() => admin.end())
  await native.close()

  let service = first.service
  let signer: SignerOptions = signerOptions
  let current = offering

  async function reopen(change: Readonly<Record<string, string>> = {}, clock = systemClock): Promise<void> {
    await service.close()
    current = { ...current, ...change }
    service = await openTestService({ besides: native, env: current, seams, clock })
  }
  async function startSigner(change: Partial<SignerOptions>): Promise<Readonly<Record<string, string>>> {
    const socketPath = `${await makeScratchDirectory()}/signer.sock`
    signer = { ...signer, address: { socketPath }, journal: await openTestSignatures(database), ...change }
    const opened = await openSigner(signer)
    afterFile(() => opened.close())
    return { SIGNER_SOCKET: socketPath }
  }
  async function changeSetting(name: 'receipt-key' | 'payment-wallet', value: Json): Promise<void> {
    const databaseUrl = await makeMemberLogin(database.adminUrl, 'tollbook_operator')
    const operator = await openSettingChanges({ databaseUrl, log: silentLog })
    const nowMs = await operator.nowMs()
    const until = isoTime(nowMs + 3_600_000)
    const event = {
      kind: 'SettingChanged',
      name,
      number: 2,
      validFrom: isoTime(nowMs),
      value: valueWithOverlap(name, value, until),
    } as const
    await operator.change({ step: 'setting.change', name, number: 2, events: [event] })
    await operator.close()
  }

  const operator: Readonly<Record<Change, () => Promise<void>>> = {
    restart: () => reopen(),
    'other machine': async () => reopen(await startSigner({})),
    async 'journal lost'() {
      await admin.query('truncate signer.signatures')
      await reopen(await startSigner({}))
    },
    async 'clock off'() {
      const clock = shiftedClock()
      // By more, the service closes its paid routes.
      clock.advance(20_000)
      await reopen({}, clock)
    },
    async 'fee payer changed'() {
      const key = Keypair.generate()
      await connection.requestAirdrop(key.publicKey, LAMPORTS_PER_SOL)
      await reopen(await startSigner({ key: signerKey(key) }))
    },
    'mint terms changed': () => Promise.reject(new Error('a mint of SPL Token has no terms that change')),
    async 'receipt key changed'() {
      const key = makeReceiptKey()
      await changeSetting('receipt-key', publicReceiptKey.parse(key))
      await reopen({ RECEIPT_SIGNING_KEY: JSON.stringify(key) })
    },
    async 'wallet changed'() {
      const wallet = Keypair.generate().publicKey
      await openAccount(wallet)
      await changeSetting('payment-wallet', wallet.toBase58())
      const { mint: token, receivers: before } = signer.terms
      const others = before.get(token) ?? []
      const terms = signingTerms({ mint: token, paymentWallet: addressOf(wallet.toBase58()), others })
      await reopen({ ...(await startSigner({ terms })), PAYMENT_WALLET: wallet.toBase58() })
    },
    'price list replaced': () => reopen({ TOKEN_PRICE_USD: '0.0005' }),
  }

  // A connection keeps a blockhash for 30 s, and those of this chain are valid for 6 s.
  const send = (transaction: Transaction) =>
    sendAndConfirmTransaction(new Connection(chain.rpcUrl, 'confirmed'), transaction, [demoWallet])
  const mint = new PublicKey(tokenMint)
  const accountOf = (owner: PublicKey) => getAssociatedTokenAddressSync(mint, owner)
  const openingOf = (owner: PublicKey) =>
    createAssociatedTokenAccountIdempotentInstruction(demoWallet.publicKey, accountOf(owner), owner, mint)
  const openAccount = (owner: PublicKey) => send(new Transaction().add(openingOf(owner)))
  const funding = ({ publicKey: owner }: Keypair) => [
    openingOf(owner),
    createTransferCheckedInstruction(
      accountOf(demoWallet.publicKey),
      mint,
      accountOf(owner),
      demoWallet.publicKey,
      tokens,
      6,
    ),
    SystemProgram.transfer({ fromPubkey: demoWallet.publicKey, toPubkey: owner, lamports: walletLamports }),
  ]

  return {
    rpcUrl: chain.rpcUrl,
    tokenMint,
    folder: await makeScratchDirectory(),
    baseUrl: () => service.baseUrl,
    async fund(count) {
      const wallets = Array.from({ length: count }, () => Keypair.generate())
      const parts = Array.from({ length: Math.ceil(count / perTransaction) }, (_, part) =>
        wallets.slice(part * perTransaction, (part + 1) * perTransaction),
      )
      await Promise.all(parts.map((part) => send(new Transaction().add(...part.flatMap(funding)))))
      return wallets
    },
    interrupt(wallet, state) {
      const address = wallet.publicKey.toBase58()
      if (state === 'released') failing.add(address)
      else states.set(address, state)
    },
    apply: (change) => operator[change](),
    async passRequests() {
      const client = await admin.connect()
      try {
        await client.query("select set_config('ledger.writing', 'on', false)")
        await client.query("update ledger.keys set until = until - interval '1 minute' where space = 13")
      } finally {
        client.release(true)
      }
    },
    async facts(wallet) {
      const address = wallet.publicKey.toBase58()
      const { rows } = await admin.query<{ state: string; reference: string; deliveries: string }>(
        `select p.state, p.reference, (select count(*) from ledger.events e where e.stream = p.stream and e.kind = 'RequestFulfilled') as deliveries
         from ledger.payments p where p.wallet = $1`,
        [address],
      )
      return {
        payments: rows.length,
        deliveries: rows.reduce((sum, { deliveries }) => sum + Number(deliveries), 0),
        runs: runs.get(address) ?? 0,
        phases: rows.map(({ state }) => state),
        references: rows.map(({ reference }) => reference),
      }
    },
  }
}

const tokens = 200_000_000n
const walletLamports = 10_000_000
const perTransaction = 5
