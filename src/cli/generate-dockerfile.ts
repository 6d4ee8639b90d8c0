// `generate dockerfile DIR`: DIR.Dockerfile beside the catalog, as opm writes it. `build --dockerfile` prints the same text.
import { statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { renderDockerfile } from '../image/dockerfile.ts'
import { parseKeyValues } from './parse-key-values.ts'
import { setExitCode, printToStderr } from './output.ts'

export interface GenerateDockerfileOptions {
  readonly baseImage: string
  readonly builderImage: string
  readonly extraLabels?: readonly string[]
}

export function generateDockerfile(dir: string, options: GenerateDockerfileOptions): void {
  const { baseImage: base, builderImage: builder, extraLabels = [] } = options
  const from = normalize(dir).replace(/(?<=.)\/+$/, '')
  const directory = basename(from)
  if (directory === '' || directory === '.' || directory === '..')
    throw new Error(`${dir} has no name of its own: name the directory as it is called`)
  const path = join(dirname(from), `${directory}.Dockerfile`)
  if (!statSync(from).isDirectory()) throw new Error(`provided root path "${from}" is not a directory`)
  const text = renderDockerfile({ directory, base, builder, labels: parseKeyValues(extraLabels, 'label') })
  // Never overwrites a file, which may have been edited.
  writeFileSync(path, text, { flag: 'wx' })
  printToStderr(`wrote ${path}`)
  setExitCode(0)
}
