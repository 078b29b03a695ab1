import { Command } from 'commander'
import { readKeypair } from '@tollbook/client/keypairFile'
import type { CommandDeps } from './commandDeps.ts'
import { giveFunds, type GiftOrder } from './local/giveFunds.ts'
import { sampleDollarMint } from './local/provisionDollar.ts'
import { readLocal } from './localJson.ts'
import { exitCodeOf, printResult, usageExitCode } from './runCommand.ts'
import { UsageProblem } from '@tollbook/client/command/usageProblem'

interface FaucetFlags {
  readonly sol: string
}

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

async function give(deps: CommandDeps, order: GiftOrder): Promise<number> {
  const local = await readLocal(deps)
  if (local?.mintAuthorityKeypairPath === undefined)
    throw new UsageProblem('local mode', `has not run in ${deps.home()}; start it with npm start`)
  const { rpcUrl, tokenMint, mintAuthorityKeypairPath } = local
  const bank = { rpcUrl, mintAuthority: await readKeypair(mintAuthorityKeypairPath) }
  const given = await giveFunds({ ...bank, mint: tokenMint }, order)
  // Give sample dollars too, because standard clients of other protocols pay with them. Ignore the `UsageProblem` of a
  // chain of an earlier release, which has no sample dollar.
  const dollars = { address: order.address, tokens: '10', sol: '0' }
  await giveFunds({ ...bank, mint: sampleDollarMint }, dollars).catch((error: unknown) => {
    if (!(error instanceof UsageProblem)) throw error
  })
  printResult(deps, given, `${given.tokens} tokens and ${given.sol} SOL for ${given.address}`)
  return 0
}
