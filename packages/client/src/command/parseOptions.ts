import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { UsageProblem } from './usageProblem.ts'

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
