import { readFile } from 'node:fs/promises'
import { UsageProblem } from './usageProblem.ts'

export async function readTextFile(option: string, path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new UsageProblem(option, `the file ${path} cannot be read`, { cause })
  })
}

export async function readJsonFile(option: string, path: string): Promise<unknown> {
  const text = await readTextFile(option, path)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UsageProblem(option, `${path} is not JSON`, { cause })
  }
}
