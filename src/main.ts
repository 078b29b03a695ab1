import '@tollbook/core/quietBindings'
import { endAfterFailure } from './cli/reportFailure.ts'
import { serveCommand } from './cli/serve.ts'

// Runs `npm start`: `tollbook serve`, or `tollbook serve --local` if no variable of an operator is set.
try {
  await serveCommand('unless-operated').parseAsync()
} catch (error) {
  endAfterFailure(error)
}
