import { join } from 'node:path'
import { Command } from 'commander'
import { readKeypair } from '@tollbook/client/keypairFile'
import type { CommandDeps } from './commandDeps.ts'
import { type Bank, giveFunds, type GiftOrder, type GiftProblem } from './local/giveFunds.ts'
import { sampleDollarMint } from './local/provisionDollar.ts'
import { readLocalJson } from './localJson.ts'
import { exitCodeOf, printResult, usageExitCode } from './runCommand.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

interface FaucetFlags {
  readonly sol: string
}

/** `tollbook faucet`: gives a wallet SOL and service tokens, on the local chain only. */
export function faucetCommand(deps: CommandDeps): Command {
  return new Command('faucet')
    .description('give a wallet SOL, newly minted service tokens and 10 sample dollars (local mode only)')
    .argument('<address>', 'the wallet')
    .argument('<tokens>', 'number of tokens, for example 100 or 0.5')
    .option('--sol <amount>', 'SOL for fees and accounts', '1')
    .addHelpText('after', faucetExitHelp)
    .action(async (address: string, tokens: string, { sol }: FaucetFlags) => {
      const code = await exitCodeOf(deps, () => give(deps, { address, tokens, sol }), { refused: usageExitCode })
      deps.setExitCode(code)
    })
}

const faucetExitHelp = `
Exit codes:
  0  given and confirmed
  2  wrong usage, or there is no local mode here
  7  the local chain does not answer`

async function give(deps: CommandDeps, gift: GiftOrder): Promise<number> {
  const funding = await fundFromHome(deps, gift)
  if ('field' in funding) throw new UsageProblem(optionOf[funding.field], funding.message)
  printResult(deps, funding, `${funding.tokens} tokens and ${funding.sol} SOL for ${funding.address}`)
  return 0
}

const optionOf: Record<GiftProblem['field'], string> = {
  rpcUrl: 'rpcUrl in local.json',
  mint: 'tokenMint in local.json',
  address: 'ADDRESS',
  tokens: 'TOKENS',
  sol: '--sol',
}

/** Gives sample dollars too, which stock clients pay with. A chain of an earlier release has none. */
async function giveDollars(bank: Omit<Bank, 'mint'>, address: string): Promise<void> {
  await giveFunds({ ...bank, mint: sampleDollarMint }, { address, tokens: '10', sol: '0' })
}

async function fundFromHome(deps: CommandDeps, gift: GiftOrder) {
  const path = join(deps.home(), 'local.json')
  const local = await readLocalJson(path)
  if (local === undefined)
    throw new UsageProblem('local mode', `has not run here: there is no ${path}; start it with npm start`)
  const { rpcUrl, tokenMint: mint, mintAuthorityKeypairPath } = local
  if (rpcUrl === undefined || mintAuthorityKeypairPath === undefined)
    throw new UsageProblem('local mode', 'does not run a chain of its own here, so there is nothing to give from')
  const bank = { rpcUrl, mintAuthority: await readKeypair(mintAuthorityKeypairPath) }
  const given = await giveFunds({ ...bank, mint }, gift)
  if (!('field' in given)) await giveDollars(bank, gift.address)
  return given
}
