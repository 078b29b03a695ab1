import { once } from 'node:events'
import { open, rename, rm } from 'node:fs/promises'

export interface Output {
  /** Comes back when the next piece may be given. */
  write(chunk: string | Uint8Array): Promise<void>
  /** Only now is the file there under its name. */
  finish(): Promise<void>
  /** Leaves nothing behind. */
  abandon(): Promise<void>
}

/** Written beside and renamed when it is whole: an export that was interrupted is never taken for one that is complete. */
export async function openOutputFile(path: string): Promise<Output> {
  const partial = `${path}.partial`
  const file = await open(partial, 'w', privateFile)
  return {
    write: (chunk) => file.writeFile(chunk),
    async finish() {
      await file.sync()
      await file.close()
      await rename(partial, path)
    },
    async abandon() {
      await file.close()
      await rm(partial, { force: true })
    },
  }
}

// Who bought what is nobody else's on the machine.
const privateFile = 0o600

/** Whoever reads at the end of the pipe decides how fast it goes, and when it is enough. */
export function openStandardOutput(stream: NodeJS.WriteStream): Output & { readonly closed: AbortSignal } {
  const closed = new AbortController()
  // A reader such as `head` that has seen enough is no failure.
  stream.on('error', (error) => closed.abort(error))
  return {
    closed: closed.signal,
    async write(chunk) {
      closed.signal.throwIfAborted()
      if (!stream.write(chunk)) await once(stream, 'drain', { signal: closed.signal })
    },
    finish: () => Promise.resolve(),
    abandon: () => Promise.resolve(),
  }
}
