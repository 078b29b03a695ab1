import { readFile } from 'node:fs/promises'
import { UsageProblem } from './usageProblem.ts'

/** Text of a file that the user names. `option` begins the message of the `UsageProblem`. */
export async function readTextFile(option: string, path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new UsageProblem(option, `the file ${path} cannot be read`, { cause })
  })
}

/** The JSON in such a file, unchecked. */
export async function readJsonFile(option: string, path: string): Promise<unknown> {
  const text = await readTextFile(option, path)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UsageProblem(option, `${path} is not JSON`, { cause })
  }
}
