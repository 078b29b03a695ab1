import { Command } from 'commander'
import { Fault } from '@tollbook/core/fault'
import { importOpenApi, type ImportOrder } from '../gateway/openApiImport.ts'
import { SchemaProblem } from '../gateway/parameterSchema.ts'
import type { CommandDeps } from './commandDeps.ts'

interface Options extends Omit<ImportOrder, 'document' | 'operations' | 'priceUsd'> {
  readonly operation: readonly string[]
  readonly price: string
}

export function importCommand(deps: CommandDeps, run: (work: () => Promise<number>) => Promise<void>): Command {
  // Give this option no default: Commander would then take the default, and accept an import of nothing.
  const more = (operation: string, earlier: readonly string[] = []) => [...earlier, operation]
  return new Command('import')
    .description('print the entries that sell operations of an OpenAPI document (3.0 or 3.1)')
    .argument('<document>', 'file in JSON or YAML; it may refer to files of its folder')
    .requiredOption('--operation <operation>', 'such as "GET /pets/{id}"; repeat it for each operation', more)
    .requiredOption('--price <usd>', 'price of one request in US dollars')
    .option('--upstream <name>', 'name of the upstream; default: from the title of the document')
    .option('--prefix <path>', 'start of the paths, such as /pets; default: the name of the upstream')
    .option('--url <url>', 'address of the API; default: the first server of the document')
    .action((document: string, { operation: operations, price: priceUsd, ...options }: Options) =>
      run(() => Promise.resolve(printEntries(deps, { document, operations, priceUsd, ...options }))),
    )
}

function printEntries({ stdout, stderr }: CommandDeps, order: ImportOrder): number {
  const { text, remarks } = importEntries(order)
  for (const remark of remarks) stderr.write(`${remark}\n`)
  stdout.write(text)
  return 0
}

function importEntries(order: ImportOrder) {
  try {
    return importOpenApi(order)
  } catch (error) {
    if (!(error instanceof SchemaProblem)) throw error
    throw new Fault(`${order.document} cannot be imported: ${error.message}`, { cause: error, retryable: false })
  }
}
