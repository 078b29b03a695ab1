import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { UsageProblem } from './usageProblem.ts'

/** Reads the options of a command. An unknown or incomplete option is a usage problem, which names the way out. */
export function parseOptions<T extends ParseArgsOptionsConfig>(argv: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const [sentence = ''] = error.message.split('. ')
    throw new UsageProblem(
      'OPTION',
      `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}; --help lists the options`,
    )
  }
}
