import { readFile } from 'node:fs/promises'
import { UsageProblem } from './usageProblem.ts'

/** Reads a file that the user names. Throws a `UsageProblem` whose message starts with `option`. */
export async function readTextFile(option: string, path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new UsageProblem(option, `the file ${path} cannot be read`, { cause })
  })
}

/** Reads and parses a JSON file that the user names. The value is not validated. */
export async function readJsonFile(option: string, path: string): Promise<unknown> {
  const text = await readTextFile(option, path)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UsageProblem(option, `${path} is not JSON`, { cause })
  }
}
