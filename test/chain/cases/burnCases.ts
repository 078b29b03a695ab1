import { createMintToCheckedInstruction, createWithdrawWithheldTokensFromMintInstruction } from '@solana/spl-token'
import { Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js'
import {
  batch,
  burn,
  burnChecked,
  burnOf,
  harvest,
  imitated,
  mintTo,
  payment,
  relayed,
  transferChecked,
  transferOf,
} from '../fixtureTokens.ts'
import {
  type Customer,
  type MintKind,
  type ChainFixture,
  accountOf,
  decimals,
  land,
  newCustomer,
  newMint,
  openAccount,
  stage,
} from '../chainFixture.ts'
import { type Presented, casesOf, feeKind } from './verificationCase.ts'

/** Rule 3: enough was burned, by the token program, of the right mint, for good. */
export const burnCases = casesOf([
  { rule: '3a', says: 'Burn of the exact amount', verdict: 'accepted', pay: burning(burn) },
  { rule: '3a', says: 'Burn of one base unit less', verdict: 'burn_insufficient', pay: burning(burn, -1n) },
  { rule: '3a', says: 'no burn at all, everything is sent', verdict: 'burn_insufficient', pay: sendEverything },
  { rule: '3b', says: 'BurnChecked of the exact amount', verdict: 'accepted', pay: burning(burnChecked) },
  {
    rule: '3b',
    says: 'BurnChecked of one base unit less',
    verdict: 'burn_insufficient',
    pay: burning(burnChecked, -1n),
  },
  { rule: '3b', says: 'BurnChecked of more than required', verdict: 'accepted', pay: burning(burnChecked, 1n) },
  { rule: '3b', says: 'two burns that suffice together', verdict: 'accepted', pay: burnTwice(0n) },
  { rule: '3b', says: 'two burns that are one base unit short', verdict: 'burn_insufficient', pay: burnTwice(-1n) },
  { rule: '3c', says: 'a burn that another program calls', verdict: 'accepted', pay: burnWrapped(relayed) },
  {
    rule: '3c',
    says: 'a burn that another program calls, one base unit short',
    verdict: 'burn_insufficient',
    pay: burnWrapped(relayed, -1n),
  },
  { rule: '3d', says: 'a burn inside a Batch', verdict: 'accepted', pay: burnBatched((batched) => batched) },
  {
    rule: '3d',
    says: 'a burn inside a Batch, one base unit short',
    verdict: 'burn_insufficient',
    pay: burnBatched((batched) => batched, -1n),
  },
  {
    rule: '3d',
    says: 'a burn inside a Batch that another program calls',
    verdict: 'accepted',
    pay: burnBatched(relayed),
  },
  {
    rule: '3d',
    says: 'a burn inside a Batch that another program calls, one base unit short',
    verdict: 'burn_insufficient',
    pay: burnBatched(relayed, -1n),
  },
  {
    rule: '3e',
    says: 'a burn of the right mint and one of another',
    verdict: 'accepted',
    pay: (fixture) => burnForeign(fixture, fixture.kind, (payer) => [burnOf(fixture, payer)]),
  },
  {
    rule: '3e',
    says: 'a burn of another mint',
    verdict: 'burn_insufficient',
    pay: (fixture) => burnForeign(fixture, fixture.kind),
  },
  {
    rule: '3f',
    says: 'a burn of the right mint and one of the other token program',
    verdict: 'accepted',
    pay: (fixture) => burnForeign(fixture, otherProgramKind(fixture), (payer) => [burnOf(fixture, payer)]),
  },
  {
    rule: '3f',
    says: 'a burn of a mint of the other token program',
    verdict: 'burn_insufficient',
    pay: (fixture) => burnForeign(fixture, otherProgramKind(fixture)),
  },
  {
    rule: '3f',
    says: 'the bytes of a burn, for a program that is not a token program',
    verdict: 'burn_insufficient',
    pay: burnWrapped(imitated),
  },
  {
    rule: '3g',
    says: 'MintTo in the same transaction restores the burned amount',
    verdict: 'supply_increased',
    pay: minting((fixture, payer) => mintTo(fixture, payer.account, fixture.price.burnBaseUnits)),
  },
  {
    rule: '3g',
    says: 'MintToChecked of one base unit in the same transaction',
    verdict: 'supply_increased',
    pay: minting((fixture, payer) =>
      createMintToCheckedInstruction(
        fixture.mint,
        payer.account,
        fixture.issuer.publicKey,
        1n,
        decimals,
        [],
        fixture.program,
      ),
    ),
  },
  {
    rule: '3g',
    says: 'MintTo that another program calls',
    verdict: 'supply_increased',
    pay: minting((fixture, payer) => relayed(mintTo(fixture, payer.account, 1n))),
  },
  {
    rule: '3g',
    says: 'MintTo inside a Batch',
    verdict: 'supply_increased',
    pay: minting((fixture, payer) => batch(fixture, [mintTo(fixture, payer.account, 1n)])),
  },
  { rule: '3g', says: 'another mint is minted in the same transaction', verdict: 'accepted', pay: mintForeign },
  {
    rule: '3g',
    says: 'withheld fees are paid out in the same transaction, so that the balances fall by less than the burn',
    verdict: 'burn_not_conserved',
    kinds: feeKind,
    pay: payOutFees,
  },
  {
    rule: '3h',
    says: 'the burn is made, and the same amount is sent to the incinerator',
    verdict: 'accepted',
    pay: (fixture) => sendToAshes(fixture, (payer) => [burnOf(fixture, payer)]),
  },
  {
    rule: '3h',
    says: 'the burn is sent to the incinerator instead',
    verdict: 'burn_insufficient',
    pay: (fixture) => sendToAshes(fixture),
  },
  {
    rule: '3h',
    says: "the wallet burns tokens in the incinerator's account, as every wallet may",
    verdict: 'burn_insufficient',
    async pay(fixture) {
      const payer = await newCustomer(fixture)
      const ashes = await openIncinerator(fixture)
      await stage(fixture, [mintTo(fixture, ashes, 5_000_000n)])
      const instructions = [burnOf(fixture, payer, { from: ashes }), transferOf(fixture, payer)]
      return { signature: await land(fixture, instructions, [payer.keypair]), wallet: payer.address }
    },
  },
  {
    rule: '3i',
    says: 'another wallet also burns',
    verdict: 'accepted',
    pay: (fixture) => burnWithHelp(fixture, { own: fixture.price.burnBaseUnits, other: 1n }),
  },
  {
    rule: '3i',
    says: 'another wallet burns the base unit that the wallet omitted',
    verdict: 'burn_insufficient',
    pay: (fixture) => burnWithHelp(fixture, { own: fixture.price.burnBaseUnits - 1n, other: 1n }),
  },
])

type BurnInstruction = typeof burn

function burning(instruction: BurnInstruction, more = 0n) {
  return async (fixture: ChainFixture): Promise<Presented> => {
    const payer = await newCustomer(fixture)
    const { account: from, address: by } = payer
    const amount = fixture.price.burnBaseUnits + more
    const instructions = [instruction(fixture, { from, by, amount }), transferOf(fixture, payer)]
    return { signature: await land(fixture, instructions, [payer.keypair]), wallet: payer.address }
  }
}

async function sendEverything(fixture: ChainFixture): Promise<Presented> {
  const payer = await newCustomer(fixture)
  const all = transferOf(fixture, payer, { send: 2n * fixture.price.requiredBaseUnits })
  return { signature: await land(fixture, [all], [payer.keypair]), wallet: payer.address }
}

function burnTwice(more: bigint) {
  return async (fixture: ChainFixture): Promise<Presented> => {
    const payer = await newCustomer(fixture)
    const first = burnOf(fixture, payer, { burn: 100_000n })
    const second = burnOf(fixture, payer, { burn: fixture.price.burnBaseUnits - 100_000n + more })
    const signature = await land(fixture, [first, transferOf(fixture, payer), second], [payer.keypair])
    return { signature, wallet: payer.address }
  }
}

type Wrap = (instruction: TransactionInstruction) => TransactionInstruction

function burnWrapped(wrap: Wrap, more = 0n) {
  return async (fixture: ChainFixture): Promise<Presented> => {
    const payer = await newCustomer(fixture)
    const wrapped = wrap(burnOf(fixture, payer, { burn: fixture.price.burnBaseUnits + more }))
    return {
      signature: await land(fixture, [wrapped, transferOf(fixture, payer)], [payer.keypair]),
      wallet: payer.address,
    }
  }
}

function burnBatched(wrap: Wrap, more = 0n) {
  return async (fixture: ChainFixture): Promise<Presented> => {
    const payer = await newCustomer(fixture)
    const instructions = payment(fixture, payer, { burn: fixture.price.burnBaseUnits + more })
    return {
      signature: await land(fixture, [wrap(batch(fixture, instructions))], [payer.keypair]),
      wallet: payer.address,
    }
  }
}

type More = (payer: Customer) => readonly TransactionInstruction[]

const nothingMore: More = () => []

function otherProgramKind({ kind }: ChainFixture): MintKind {
  return kind === 'SPL Token' ? 'Token-2022' : 'SPL Token'
}

/** The wallet holds and burns a mint that it made itself; the transfer is real. */
async function burnForeign(fixture: ChainFixture, kind: MintKind, more = nothingMore): Promise<Presented> {
  const payer = await newCustomer(fixture)
  const foreign = await openForeignMint(fixture, kind)
  const account = accountOf(foreign, payer.address)
  await stage(fixture, [
    openAccount(fixture, { ...foreign, owner: payer.address }),
    mintTo(foreign, account, 5_000_000n),
  ])
  const instructions = [burnOf(foreign, payer, { from: account }), transferOf(fixture, payer), ...more(payer)]
  return { signature: await land(fixture, instructions, [payer.keypair]), wallet: payer.address }
}

async function sendToAshes(fixture: ChainFixture, more = nothingMore): Promise<Presented> {
  const payer = await newCustomer(fixture)
  const ashes = await openIncinerator(fixture)
  const { account: from, address: by } = payer
  const toAshes = transferChecked(fixture, { from, by, to: ashes, amount: fixture.price.burnBaseUnits })
  const instructions = [toAshes, transferOf(fixture, payer), ...more(payer)]
  return { signature: await land(fixture, instructions, [payer.keypair]), wallet: payer.address }
}

interface Help {
  readonly own: bigint
  readonly other: bigint
}

async function burnWithHelp(fixture: ChainFixture, { own, other }: Help): Promise<Presented> {
  const [payer, helper] = [await newCustomer(fixture), await newCustomer(fixture)]
  const instructions = [
    burnOf(fixture, payer, { burn: own }),
    burnOf(fixture, helper, { burn: other }),
    transferOf(fixture, payer),
  ]
  return { signature: await land(fixture, instructions, [payer.keypair, helper.keypair]), wallet: payer.address }
}

/** The same lab, but with a mint that is not the service token. */
async function openForeignMint(fixture: ChainFixture, kind: MintKind): Promise<ChainFixture> {
  const mint = Keypair.generate()
  const instructions = newMint({ kind, mint: mint.publicKey, issuer: fixture.issuer.publicKey })
  await stage(fixture, instructions, [mint])
  const program = instructions.at(-1)?.programId ?? fixture.program
  return { ...fixture, kind, mint: mint.publicKey, program }
}

function minting(instruction: (fixture: ChainFixture, payer: Customer) => TransactionInstruction) {
  return async (fixture: ChainFixture): Promise<Presented> => {
    const payer = await newCustomer(fixture)
    const instructions = [...payment(fixture, payer), instruction(fixture, payer)]
    return { signature: await land(fixture, instructions, [payer.keypair, fixture.issuer]), wallet: payer.address }
  }
}

async function mintForeign(fixture: ChainFixture): Promise<Presented> {
  const payer = await newCustomer(fixture)
  const foreign = await openForeignMint(fixture, fixture.kind)
  const opening = openAccount(fixture, { ...foreign, owner: payer.address })
  const minted = mintTo(foreign, accountOf(foreign, payer.address), 5_000_000n)
  const signature = await land(fixture, [...payment(fixture, payer), opening, minted], [payer.keypair, fixture.issuer])
  return { signature, wallet: payer.address }
}

/** Fees withheld from earlier transfers return to balances, which hides the same amount of the burn. */
async function payOutFees(fixture: ChainFixture): Promise<Presented> {
  const [payer, trader] = [await newCustomer(fixture), await newCustomer(fixture, 100_000_000n)]
  const { account: from, address: by } = trader
  const trade = transferChecked(fixture, { from, by, to: payer.account, amount: 50_000_000n })
  await stage(fixture, [trade, harvest(fixture, [payer.account])], [trader.keypair])
  const { mint, program, issuer } = fixture
  const payOut = createWithdrawWithheldTokensFromMintInstruction(mint, trader.account, issuer.publicKey, [], program)
  const signature = await land(fixture, [...payment(fixture, payer), payOut], [payer.keypair, issuer])
  return { signature, wallet: payer.address }
}

const incinerator = new PublicKey('1nc1nerator11111111111111111111111111111111')

async function openIncinerator(fixture: ChainFixture): Promise<PublicKey> {
  const account = accountOf(fixture, incinerator)
  const exists = await fixture.connection.getAccountInfo(account, 'processed')
  if (exists === null) await stage(fixture, [openAccount(fixture, { ...fixture, owner: incinerator })])
  return account
}
