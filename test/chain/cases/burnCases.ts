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
} from '../labTokens.ts'
import {
  type Customer,
  type MintKind,
  type PaymentLab,
  accountOf,
  decimals,
  land,
  newCustomer,
  newMint,
  openAccount,
  stage,
} from '../paymentLab.ts'
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
    pay: (lab) => burnForeign(lab, lab.kind, (payer) => [burnOf(lab, payer)]),
  },
  {
    rule: '3e',
    says: 'a burn of another mint',
    verdict: 'burn_insufficient',
    pay: (lab) => burnForeign(lab, lab.kind),
  },
  {
    rule: '3f',
    says: 'a burn of the right mint and one of the other token program',
    verdict: 'accepted',
    pay: (lab) => burnForeign(lab, otherProgramKind(lab), (payer) => [burnOf(lab, payer)]),
  },
  {
    rule: '3f',
    says: 'a burn of a mint of the other token program',
    verdict: 'burn_insufficient',
    pay: (lab) => burnForeign(lab, otherProgramKind(lab)),
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
    pay: minting((lab, payer) => mintTo(lab, payer.account, lab.price.burnBaseUnits)),
  },
  {
    rule: '3g',
    says: 'MintToChecked of one base unit in the same transaction',
    verdict: 'supply_increased',
    pay: minting((lab, payer) =>
      createMintToCheckedInstruction(lab.mint, payer.account, lab.issuer.publicKey, 1n, decimals, [], lab.program),
    ),
  },
  {
    rule: '3g',
    says: 'MintTo that another program calls',
    verdict: 'supply_increased',
    pay: minting((lab, payer) => relayed(mintTo(lab, payer.account, 1n))),
  },
  {
    rule: '3g',
    says: 'MintTo inside a Batch',
    verdict: 'supply_increased',
    pay: minting((lab, payer) => batch(lab, [mintTo(lab, payer.account, 1n)])),
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
    pay: (lab) => sendToAshes(lab, (payer) => [burnOf(lab, payer)]),
  },
  {
    rule: '3h',
    says: 'the burn is sent to the incinerator instead',
    verdict: 'burn_insufficient',
    pay: (lab) => sendToAshes(lab),
  },
  {
    rule: '3h',
    says: "the wallet burns tokens in the incinerator's account, as every wallet may",
    verdict: 'burn_insufficient',
    async pay(lab) {
      const payer = await newCustomer(lab)
      const ashes = await openIncinerator(lab)
      await stage(lab, [mintTo(lab, ashes, 5_000_000n)])
      const instructions = [burnOf(lab, payer, { from: ashes }), transferOf(lab, payer)]
      return { signature: await land(lab, instructions, [payer.keypair]), wallet: payer.address }
    },
  },
  {
    rule: '3i',
    says: 'another wallet also burns',
    verdict: 'accepted',
    pay: (lab) => burnWithHelp(lab, { own: lab.price.burnBaseUnits, other: 1n }),
  },
  {
    rule: '3i',
    says: 'another wallet burns the base unit that the wallet omitted',
    verdict: 'burn_insufficient',
    pay: (lab) => burnWithHelp(lab, { own: lab.price.burnBaseUnits - 1n, other: 1n }),
  },
])

type BurnInstruction = typeof burn

function burning(instruction: BurnInstruction, more = 0n) {
  return async (lab: PaymentLab): Promise<Presented> => {
    const payer = await newCustomer(lab)
    const { account: from, address: by } = payer
    const amount = lab.price.burnBaseUnits + more
    const instructions = [instruction(lab, { from, by, amount }), transferOf(lab, payer)]
    return { signature: await land(lab, instructions, [payer.keypair]), wallet: payer.address }
  }
}

async function sendEverything(lab: PaymentLab): Promise<Presented> {
  const payer = await newCustomer(lab)
  const all = transferOf(lab, payer, { send: 2n * lab.price.requiredBaseUnits })
  return { signature: await land(lab, [all], [payer.keypair]), wallet: payer.address }
}

function burnTwice(more: bigint) {
  return async (lab: PaymentLab): Promise<Presented> => {
    const payer = await newCustomer(lab)
    const first = burnOf(lab, payer, { burn: 100_000n })
    const second = burnOf(lab, payer, { burn: lab.price.burnBaseUnits - 100_000n + more })
    const signature = await land(lab, [first, transferOf(lab, payer), second], [payer.keypair])
    return { signature, wallet: payer.address }
  }
}

type Wrap = (instruction: TransactionInstruction) => TransactionInstruction

function burnWrapped(wrap: Wrap, more = 0n) {
  return async (lab: PaymentLab): Promise<Presented> => {
    const payer = await newCustomer(lab)
    const wrapped = wrap(burnOf(lab, payer, { burn: lab.price.burnBaseUnits + more }))
    return { signature: await land(lab, [wrapped, transferOf(lab, payer)], [payer.keypair]), wallet: payer.address }
  }
}

function burnBatched(wrap: Wrap, more = 0n) {
  return async (lab: PaymentLab): Promise<Presented> => {
    const payer = await newCustomer(lab)
    const instructions = payment(lab, payer, { burn: lab.price.burnBaseUnits + more })
    return { signature: await land(lab, [wrap(batch(lab, instructions))], [payer.keypair]), wallet: payer.address }
  }
}

type More = (payer: Customer) => readonly TransactionInstruction[]

const nothingMore: More = () => []

function otherProgramKind({ kind }: PaymentLab): MintKind {
  return kind === 'SPL Token' ? 'Token-2022' : 'SPL Token'
}

/** The wallet holds and burns a mint that it made itself; the transfer is real. */
async function burnForeign(lab: PaymentLab, kind: MintKind, more = nothingMore): Promise<Presented> {
  const payer = await newCustomer(lab)
  const foreign = await openForeignMint(lab, kind)
  const account = accountOf(foreign, payer.address)
  await stage(lab, [openAccount(lab, { ...foreign, owner: payer.address }), mintTo(foreign, account, 5_000_000n)])
  const instructions = [burnOf(foreign, payer, { from: account }), transferOf(lab, payer), ...more(payer)]
  return { signature: await land(lab, instructions, [payer.keypair]), wallet: payer.address }
}

async function sendToAshes(lab: PaymentLab, more = nothingMore): Promise<Presented> {
  const payer = await newCustomer(lab)
  const ashes = await openIncinerator(lab)
  const { account: from, address: by } = payer
  const toAshes = transferChecked(lab, { from, by, to: ashes, amount: lab.price.burnBaseUnits })
  const instructions = [toAshes, transferOf(lab, payer), ...more(payer)]
  return { signature: await land(lab, instructions, [payer.keypair]), wallet: payer.address }
}

interface Help {
  readonly own: bigint
  readonly other: bigint
}

async function burnWithHelp(lab: PaymentLab, { own, other }: Help): Promise<Presented> {
  const [payer, helper] = [await newCustomer(lab), await newCustomer(lab)]
  const instructions = [burnOf(lab, payer, { burn: own }), burnOf(lab, helper, { burn: other }), transferOf(lab, payer)]
  return { signature: await land(lab, instructions, [payer.keypair, helper.keypair]), wallet: payer.address }
}

/** The same lab, but with a mint that is not the service token. */
async function openForeignMint(lab: PaymentLab, kind: MintKind): Promise<PaymentLab> {
  const mint = Keypair.generate()
  const instructions = newMint({ kind, mint: mint.publicKey, issuer: lab.issuer.publicKey })
  await stage(lab, instructions, [mint])
  const program = instructions.at(-1)?.programId ?? lab.program
  return { ...lab, kind, mint: mint.publicKey, program }
}

function minting(instruction: (lab: PaymentLab, payer: Customer) => TransactionInstruction) {
  return async (lab: PaymentLab): Promise<Presented> => {
    const payer = await newCustomer(lab)
    const instructions = [...payment(lab, payer), instruction(lab, payer)]
    return { signature: await land(lab, instructions, [payer.keypair, lab.issuer]), wallet: payer.address }
  }
}

async function mintForeign(lab: PaymentLab): Promise<Presented> {
  const payer = await newCustomer(lab)
  const foreign = await openForeignMint(lab, lab.kind)
  const opening = openAccount(lab, { ...foreign, owner: payer.address })
  const minted = mintTo(foreign, accountOf(foreign, payer.address), 5_000_000n)
  const signature = await land(lab, [...payment(lab, payer), opening, minted], [payer.keypair, lab.issuer])
  return { signature, wallet: payer.address }
}

/** Fees withheld from earlier transfers return to balances, which hides the same amount of the burn. */
async function payOutFees(lab: PaymentLab): Promise<Presented> {
  const [payer, trader] = [await newCustomer(lab), await newCustomer(lab, 100_000_000n)]
  const { account: from, address: by } = trader
  const trade = transferChecked(lab, { from, by, to: payer.account, amount: 50_000_000n })
  await stage(lab, [trade, harvest(lab, [payer.account])], [trader.keypair])
  const { mint, program, issuer } = lab
  const payOut = createWithdrawWithheldTokensFromMintInstruction(mint, trader.account, issuer.publicKey, [], program)
  const signature = await land(lab, [...payment(lab, payer), payOut], [payer.keypair, issuer])
  return { signature, wallet: payer.address }
}

const incinerator = new PublicKey('1nc1nerator11111111111111111111111111111111')

async function openIncinerator(lab: PaymentLab): Promise<PublicKey> {
  const account = accountOf(lab, incinerator)
  const exists = await lab.connection.getAccountInfo(account, 'processed')
  if (exists === null) await stage(lab, [openAccount(lab, { ...lab, owner: incinerator })])
  return account
}
