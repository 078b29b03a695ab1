import {
  AccountState,
  ExtensionType,
  NATIVE_MINT,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  createInitializeDefaultAccountStateInstruction,
  createInitializeInterestBearingMintInstruction,
  createInitializeMetadataPointerInstruction,
  createInitializeMint2Instruction,
  createInitializeMintCloseAuthorityInstruction,
  createInitializeNonTransferableMintInstruction,
  createInitializePausableConfigInstruction,
  createInitializePermanentDelegateInstruction,
  createInitializePermissionedBurnInstruction,
  createInitializeTransferFeeConfigInstruction,
  createInitializeTransferHookInstruction,
  getMintLen,
} from '@solana/spl-token'
import { Keypair, type PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { openPlainAccount } from '../fixtureTokens.ts'
import { type ChainFixture, createAllocation, decimals, idleAddress, stage } from '../chainFixture.ts'

/** A value of TOKEN_MINT, and the service's verdict on it at start. */
export interface MintCase {
  readonly rule: string
  readonly says: string
  /** Part of the reason; undefined for a mint that is taken. */
  readonly refusedBecause: RegExp | undefined
  /** Puts it on chain and tells where. */
  readonly make: (fixture: ChainFixture) => Promise<PublicKey>
}

type Initialize = (mint: PublicKey, authority: PublicKey) => TransactionInstruction

const program = TOKEN_2022_PROGRAM_ID

/** Rule 6: with some kinds of token a landed payment would not prove what it seems to. */
export const mintCases: readonly MintCase[] = [
  {
    rule: '6a',
    says: 'a mint of SPL Token',
    refusedBecause: undefined,
    make: (fixture) => makeMint(fixture, TOKEN_PROGRAM_ID),
  },
  {
    rule: '6a',
    says: 'a mint of Token-2022 without extensions',
    refusedBecause: undefined,
    make: (fixture) => makeMint(fixture, program),
  },
  ...taken('a transfer fee', ExtensionType.TransferFeeConfig, (mint, authority) =>
    createInitializeTransferFeeConfigInstruction(mint, authority, authority, 100, 1_000n, program),
  ),
  ...taken('a permanent delegate', ExtensionType.PermanentDelegate, (mint, authority) =>
    createInitializePermanentDelegateInstruction(mint, authority, program),
  ),
  ...taken('a close authority', ExtensionType.MintCloseAuthority, (mint, authority) =>
    createInitializeMintCloseAuthorityInstruction(mint, authority, program),
  ),
  ...taken('a metadata pointer', ExtensionType.MetadataPointer, (mint, authority) =>
    createInitializeMetadataPointerInstruction(mint, authority, mint, program),
  ),
  ...taken(
    'an interest rate, which changes only what is displayed',
    ExtensionType.InterestBearingConfig,
    (mint, authority) => createInitializeInterestBearingMintInstruction(mint, authority, 500, program),
  ),
  ...taken('accounts that are open by default', ExtensionType.DefaultAccountState, (mint) =>
    createInitializeDefaultAccountStateInstruction(mint, AccountState.Initialized, program),
  ),
  ...refused('a transfer hook', /transfer hook/, ExtensionType.TransferHook, (mint, authority) =>
    createInitializeTransferHookInstruction(mint, authority, idleAddress, program),
  ),
  ...refused(
    'confidential transfers',
    /confidential transfers/,
    ExtensionType.ConfidentialTransferMint,
    initializeConfidential,
  ),
  ...refused('accounts that are frozen by default', /frozen/, ExtensionType.DefaultAccountState, (mint) =>
    createInitializeDefaultAccountStateInstruction(mint, AccountState.Frozen, program),
  ),
  ...refused('a pause button', /pausable/, ExtensionType.PausableConfig, (mint, authority) =>
    createInitializePausableConfigInstruction(mint, authority, program),
  ),
  ...refused('no transfers', /non-transferable/, ExtensionType.NonTransferable, (mint) =>
    createInitializeNonTransferableMintInstruction(mint, program),
  ),
  ...refused('burns that need a permission', /permission/, ExtensionType.PermissionedBurn, (mint, authority) =>
    createInitializePermissionedBurnInstruction(mint, authority, program),
  ),
  {
    rule: '6b',
    says: 'wrapped SOL, which a token program does not burn',
    refusedBecause: /cannot be burned/,
    make: () => Promise.resolve(NATIVE_MINT),
  },
  {
    rule: '6c',
    says: 'an address without an account',
    refusedBecause: /does not exist/,
    make: () => Promise.resolve(Keypair.generate().publicKey),
  },
  {
    rule: '6c',
    says: 'a wallet',
    refusedBecause: /not owned by a token program/,
    make: ({ issuer }) => Promise.resolve(issuer.publicKey),
  },
  {
    rule: '6c',
    says: 'a token account',
    refusedBecause: /is not a mint/,
    async make(fixture) {
      const account = Keypair.generate()
      await stage(fixture, openPlainAccount(fixture, account.publicKey, fixture.issuer.publicKey), [account])
      return account.publicKey
    },
  },
  {
    rule: '6c',
    says: 'space for a mint that has not been initialised',
    refusedBecause: /is not a mint/,
    async make(fixture) {
      const account = Keypair.generate()
      const room = { account: account.publicKey, payer: fixture.issuer.publicKey, space: 82, program: TOKEN_PROGRAM_ID }
      await stage(fixture, [createAllocation(room)], [account])
      return account.publicKey
    },
  },
  {
    rule: '6c',
    says: "a mint's bytes in an account of another program",
    refusedBecause: /not owned by a token program/,
    async make(fixture) {
      const account = Keypair.generate()
      const { publicKey: newAccountPubkey } = account
      const fromPubkey = fixture.issuer.publicKey
      const owned = { fromPubkey, newAccountPubkey, space: 82, lamports: 10_000_000, programId: idleAddress }
      await stage(fixture, [SystemProgram.createAccount(owned)], [account])
      return newAccountPubkey
    },
  },
]

function taken(what: string, extension: ExtensionType, initialize: Initialize): readonly MintCase[] {
  return [
    { rule: '6a', says: `a mint with ${what}`, refusedBecause: undefined, make: makeExtended(extension, initialize) },
  ]
}

function refused(what: string, why: RegExp, extension: ExtensionType, initialize: Initialize): readonly MintCase[] {
  return [{ rule: '6b', says: `a mint with ${what}`, refusedBecause: why, make: makeExtended(extension, initialize) }]
}

function makeExtended(extension: ExtensionType, initialize: Initialize) {
  return async (fixture: ChainFixture): Promise<PublicKey> => {
    const [mint, authority] = [Keypair.generate(), fixture.issuer.publicKey]
    const room = { account: mint.publicKey, payer: authority, space: getMintLen([extension]), program }
    await stage(
      fixture,
      [
        createAllocation(room),
        initialize(mint.publicKey, authority),
        createInitializeMint2Instruction(mint.publicKey, decimals, authority, authority, program),
      ],
      [mint],
    )
    return mint.publicKey
  }
}

async function makeMint(fixture: ChainFixture, owner: PublicKey): Promise<PublicKey> {
  const [mint, authority] = [Keypair.generate(), fixture.issuer.publicKey]
  const room = { account: mint.publicKey, payer: authority, space: getMintLen([]), program: owner }
  const initialize = createInitializeMint2Instruction(mint.publicKey, decimals, authority, null, owner)
  await stage(fixture, [createAllocation(room), initialize], [mint])
  return mint.publicKey
}

/** The library cannot write this one: instruction 27.0 with an authority, automatic approval, and no auditor's key. */
function initializeConfidential(mint: PublicKey, authority: PublicKey): TransactionInstruction {
  return new TransactionInstruction({
    programId: program,
    keys: [{ pubkey: mint, isSigner: false, isWritable: true }],
    data: Buffer.concat([Buffer.from([27, 0]), authority.toBuffer(), Buffer.from([1]), Buffer.alloc(32)]),
  })
}
