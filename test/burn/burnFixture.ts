import { createApproveInstruction, createRevokeInstruction } from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { type BurnDeps, burnOnce, type BurnOutcome } from '../../src/burn/burnRound.ts'
import { burnChainOf } from '../../src/burn/openBurner.ts'
import { createBurnKey } from '../../src/chain/burnTransaction.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { postJson } from '../../src/outbound/postJson.ts'
import { silentLog } from '../../src/machine/log.ts'
import { createBurnLedger } from '../../src/store/burnStore.ts'
import { openDatabase } from '../../src/store/database.ts'
import { giveSol, type MintKind, stage } from '../chain/chainFixture.ts'
import {
  finalityRound,
  type LifecycleFixture,
  openLifecycleFixture,
  payWithoutBurn,
  serve,
} from '../jobs/lifecycleFixture.ts'
import { afterFile } from '../support/afterFile.ts'
import { signerKey } from '../support/feePayerKey.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'

/** A ledger and a chain with a burn job, whose parts a test may replace. */
export interface BurnFixture extends LifecycleFixture {
  readonly burnDeps: BurnDeps
  readonly delegate: Keypair
  /** Login of the burn job. */
  readonly burnerUrl: string
  burn(replaced?: Partial<BurnDeps>): Promise<BurnOutcome>
  /** Lets the delegate burn. */
  approve(): Promise<void>
  revoke(): Promise<void>
  /** The chain of a job that asks both nodes. */
  withSecondNode(): Promise<BurnDeps['chain']>
  supply(): Promise<bigint>
}

// More slots than a blockhash is valid for.
const longAgo = 400
const slotsPerSleep = 10

export async function openBurnFixture(kind: MintKind): Promise<BurnFixture> {
  const environment = await openLifecycleFixture(kind, [{ newestState: true }, { newestState: true }])
  const { fixture, clock, database, chain } = environment
  const { connection, mint, paymentAccount, paymentWallet, program, terms } = fixture
  // Waiting for finality lets slots pass.
  clock.onSleep(() => fixture.chain.advanceSlots(slotsPerSleep))
  const delegate = Keypair.generate()
  await stage(fixture, [giveSol(fixture, delegate.publicKey)])
  const databaseUrl = await makeMemberLogin(database.adminUrl, 'tollbook_burner')
  const burner = openDatabase({ databaseUrl, applicationName: 'test burn', connectionsMax: 2, log: silentLog })
  afterFile(() => burner.destroy())
  const burnDeps: BurnDeps = {
    ledger: createBurnLedger(burner),
    chain: burnChainOf(chain, { database: burner, clock }),
    signBurn: createBurnKey(signerKey(delegate), terms).signBurn,
    terms,
    clock,
    log: silentLog,
  }
  const owner = paymentWallet.publicKey
  const allowance = 2n ** 64n - 1n
  return {
    ...environment,
    burnDeps,
    delegate,
    burnerUrl: databaseUrl,
    burn: (replaced) => burnOnce({ ...burnDeps, ...replaced }),
    approve: () =>
      stage(
        fixture,
        [createApproveInstruction(paymentAccount, delegate.publicKey, owner, allowance, [], program)],
        [paymentWallet],
      ),
    async withSecondNode() {
      const { mint: tokenMint, paymentWallet: wallet } = terms
      const rpcUrls = fixture.chain.nodes.map(({ rpcUrl }) => rpcUrl)
      const options = { rpcUrls, tokenMint, paymentWallet: wallet, commitment: 'confirmed', postJson } as const
      return burnChainOf(await openChain({ ...options, log: silentLog, clock }), { database: burner, clock })
    },
    revoke: () => stage(fixture, [createRevokeInstruction(paymentAccount, owner, [], program)], [paymentWallet]),
    supply: async () => BigInt((await connection.getTokenSupply(mint, 'processed')).value.amount),
  }
}

/** A served payment that owes its burn, final on chain and in the ledger. */
export async function oweBurn(environment: BurnFixture): Promise<bigint> {
  const { settlement } = await payWithoutBurn(environment)
  await serve(environment, settlement)
  await makeFinal(environment)
  return settlement.price.burnBaseUnits
}

export async function makeFinal(environment: BurnFixture): Promise<void> {
  environment.fixture.chain.advanceSlots(32)
  await finalityRound(environment)
  await finalityRound(environment)
}

/** Nothing sent before can land any more. */
export function letBlockhashesExpire({ fixture }: BurnFixture): void {
  fixture.chain.advanceSlots(longAgo)
}
