import '@tollbook/core/quietBindings'
import { endAfterFailure } from './cli/reportFailure.ts'
import { serveCommand } from './cli/serve.ts'

// `npm start`: `tollbook serve`, or `tollbook serve --local` when nothing of an operator is set.
try {
  await serveCommand('unless-operated').parseAsync()
} catch (error) {
  endAfterFailure(error)
}
