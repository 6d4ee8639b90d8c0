// The packages in `packages/`, and the source files behind imports of them.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export interface WorkspacePackage {
  readonly name: string
  /** Relative to the root. */
  readonly folder: string
  /** Source files relative to the root, by import specifier. */
  readonly exports: ReadonlyMap<string, string>
  readonly dependencies: ReadonlySet<string>
}

export function readWorkspacePackages(root: string): readonly WorkspacePackage[] {
  if (!existsSync(join(root, 'packages'))) return []
  return readdirSync(join(root, 'packages'))
    .sort()
    .map((entry) => join('packages', entry))
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map((folder) => {
      const {
        name,
        exports = {},
        dependencies = {},
      } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
        readonly name: string
        readonly exports?: Readonly<Record<string, string>>
        readonly dependencies?: Readonly<Record<string, string>>
      }
      return {
        name,
        folder,
        exports: new Map(
          Object.entries(exports).map(([path, file]) => [
            name + path.slice('.'.length),
            normalize(join(folder, file)),
          ]),
        ),
        dependencies: new Set(Object.keys(dependencies)),
      }
    })
}

/** Resolves import specifiers of `file` to source files relative to the root. Undefined for other packages. */
export type ImportResolver = (file: string, specifier: string) => string | undefined

export function createImportResolver(packages: readonly WorkspacePackage[]): ImportResolver {
  const files = new Map(packages.flatMap((one) => [...one.exports]))
  return (file, specifier) =>
    specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : files.get(specifier)
}

/** The files below a folder, sorted, relative to the root. None if the folder does not exist. */
export function listFiles(root: string, folder: string, name: RegExp): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => name.test(path))
    .map((path) => join(folder, path))
    .sort()
}

/** Updates generated files, or with `isCheck` only compares them. Returns the paths of outdated ones, relative to the root. */
export function updateGeneratedFiles(
  root: string,
  files: Iterable<readonly [path: string, text: string]>,
  isCheck: boolean,
): readonly string[] {
  const outdated = [...files].filter(([path, text]) => {
    const file = join(root, path)
    return !existsSync(file) || readFileSync(file, 'utf8') !== text
  })
  if (!isCheck) for (const [path, text] of outdated) writeFileSync(join(root, path), text)
  return outdated.map(([path]) => path)
}
