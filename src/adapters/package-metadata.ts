import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where the artifacts of a release are published. scripts/release.ts adds it to package.json; a checkout has none. */
export interface ReleaseArtifactLocations {
  /** `OWNER/NAME` on GitHub. */
  readonly repository: string
  /** The npm packages: for authors, and the App's. */
  readonly package: string
  readonly appPackage: string
  /** Without a tag. */
  readonly image: string
  /** The OCI reference of the Helm chart. */
  readonly chart: string
  /** For `uses` in a workflow. */
  readonly action: string
  /** The documentation, with a trailing slash. */
  readonly site: string
}

interface PackageMetadata {
  readonly version: string
  readonly distribution?: ReleaseArtifactLocations
}

/** The root folder of this package. A build puts this module into a folder that is two folders deep, too. */
export const npmPackageFolder = join(import.meta.dirname, '..', '..')

export function readPackageMetadata(): PackageMetadata {
  return JSON.parse(readFileSync(join(npmPackageFolder, 'package.json'), 'utf8')) as PackageMetadata
}

export const readPackageVersion = (): string => readPackageMetadata().version

/** The Markdown page of a rule: from docs/rules in a checkout, and from rule-pages.json in a build. */
export function readRulePage(id: string): string | undefined {
  const page = join(npmPackageFolder, 'docs', 'rules', `${id}.md`)
  if (existsSync(page)) return readFileSync(page, 'utf8')
  const all = join(npmPackageFolder, 'dist', 'rule-pages.json')
  if (!existsSync(all)) return undefined
  return (JSON.parse(readFileSync(all, 'utf8')) as Readonly<Record<string, string>>)[id]
}
