// Before a run of all tests, bundles the scripts of worker processes from the current sources. A process then loads a few
// files instead of hundreds, which halves the processor time of its start. A run of some test files starts the sources.
import { cpSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildSplitModules, projectRoot } from '../scripts/build/split-modules.ts'
import { loadSchemaValidators } from './sandbox/github/openapi-schemas.ts'

/** It always has the same path, because Node.js caches compiled code by path. */
const folder = join(projectRoot, 'node_modules/.cache/catalog-bot/workers')

export default async function buildWorkers({ nonFlagArgs, testNamePattern }) {
  if (nonFlagArgs.length > 0 || testNamePattern) return
  rmSync(folder, { recursive: true, force: true })
  await buildSplitModules({ entries: globSync('src/**/*-process.ts', { cwd: projectRoot }), folder })
  // Modules find it two folders above their own.
  cpSync(join(projectRoot, 'package.json'), join(folder, '..', 'package.json'))
  // Compiles the schemas once, instead of in each worker.
  loadSchemaValidators()
  // Test processes inherit it.
  process.env.BUILT_WORKERS = join(folder, 'cli')
}
