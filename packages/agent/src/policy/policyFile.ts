import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Policy, PolicyProblem, readPolicy } from './policy.ts'

export interface PolicyFile {
  readonly policy: Policy
  /** Text of the file. Another text counts as another policy. */
  readonly text: string
}

const groupOrOthersWrite = 0o022

/** Reads the policy, or throws a `PolicyProblem` that lists all mistakes, including write access of other users. */
export async function readPolicyFile(path: string): Promise<PolicyFile> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const isMissing = error.code === 'ENOENT'
    const hint = isMissing ? "there is none; 'mcp init' writes one" : `it cannot be read (${error.code})`
    throw new PolicyProblem(path, [hint], { isMissing })
  })
  // Check the target of a link too, because a user who can write to its folder can replace the policy.
  const places = new Set([path, dirname(path), dirname(await realpath(path))])
  const mistakes = (await Promise.all([...places].map(accessProblem))).flat()
  try {
    const policy = readPolicy(text, path)
    if (mistakes.length === 0) return { policy, text }
  } catch (error) {
    if (!(error instanceof PolicyProblem)) throw error
    mistakes.push(...error.mistakes)
  }
  throw new PolicyProblem(path, mistakes)
}

/** Reports a mode or an owner that lets another user change the file or folder. */
export async function accessProblem(path: string): Promise<readonly string[]> {
  const { mode, uid } = await stat(path)
  const own = process.getuid?.() ?? uid
  return [
    ...((mode & groupOrOthersWrite) === 0 ? [] : [`${path} can be written by other users: chmod go-w '${path}'`]),
    ...(uid === own || uid === 0 ? [] : [`${path} belongs to user ${uid}, and this program runs as ${own}`]),
  ]
}
