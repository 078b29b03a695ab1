import { closeAfterFile } from './afterFile.ts'

// Vitest executes a setup file for each test file, also where files share a process.
closeAfterFile()
