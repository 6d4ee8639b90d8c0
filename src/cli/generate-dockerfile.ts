// `generate dockerfile DIR`: writes DIR.Dockerfile next to the catalog, like opm. `build --dockerfile` prints the same text.
import { statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { renderDockerfile } from '../adapters/image/local-build.ts'
import { setExitCode, printToStderr } from './output.ts'
import { parseCommaSeparatedKeyValues } from './options.ts'

interface GenerateDockerfileOptions {
  readonly baseImage: string
  readonly builderImage: string
  readonly extraLabels?: readonly string[]
}

export function generateDockerfile(dir: string, options: GenerateDockerfileOptions): void {
  const { baseImage: base, builderImage: builder, extraLabels = [] } = options
  const from = normalize(dir).replace(/(?<=.)\/+$/, '')
  const directory = basename(from)
  if (directory === '' || directory === '.' || directory === '..')
    throw new Error(`${dir} does not end with a directory name: specify the directory by its name`)
  const path = join(dirname(from), `${directory}.Dockerfile`)
  if (!statSync(from).isDirectory()) throw new Error(`provided root path "${from}" is not a directory`)
  const text = renderDockerfile({
    directory,
    base,
    builder,
    labels: parseCommaSeparatedKeyValues(extraLabels, 'label'),
  })
  // Never overwrites a file, because a user might have edited it.
  writeFileSync(path, text, { flag: 'wx' })
  printToStderr(`Wrote ${path}`)
  setExitCode(0)
}
