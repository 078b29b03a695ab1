import { afterAll } from 'vitest'

/*
 * Resources opened by a helper are closed after the test file, wherever in the file they were opened. Vitest silently
 * forgets an `afterAll` that is called inside a hook or a test, and files that share a process load this module once,
 * so the setup file `closeAfterFile.ts` registers the hook for each file. As the first hook it runs last, after the
 * file's own hooks have closed their pools.
 */
type Close = () => Promise<void> | void

const closers: Close[] = []

export function afterFile(close: Close): void {
  closers.push(close)
}

export function closeAfterFile(): void {
  afterAll(closeAll)
}

async function closeAll(): Promise<void> {
  const failures: unknown[] = []
  for (const close of closers.splice(0).toReversed()) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, 'several things could not be closed')
}
