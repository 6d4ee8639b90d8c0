// Whether this machine has a program, for tests and benches that run it.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

export function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => isExecutable(join(folder, program)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
