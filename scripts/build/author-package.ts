// The npm metadata of the package for authors: its package.json, derived from the App's, and its README.
import type { ReleaseArtifactLocations } from '../../src/adapters/package-metadata.ts'

export interface AppPackageJson {
  readonly version: string
  readonly license: string
  readonly type: string
  readonly engines: Readonly<Record<string, string>>
  readonly distribution?: ReleaseArtifactLocations
}

/** Private, because a checkout does not own a name on npm. */
const unpublishedPackageFields = { name: '@catalog-bot/cli', private: true }

/** The fields that npm's page of a package shows. */
export function createPublishedPackageFields(name: string, distribution: ReleaseArtifactLocations) {
  const url = `https://github.com/${distribution.repository}`
  return {
    name,
    homepage: distribution.site,
    repository: { type: 'git', url: `git+${url}.git` },
    bugs: `${url}/issues`,
    keywords: ['olm', 'operator-lifecycle-manager', 'file-based-catalog', 'kubernetes', 'operators', 'opm'],
    publishConfig: { access: 'public', provenance: true },
    distribution,
  }
}

export function createAuthorPackageJson({
  version,
  license,
  type,
  engines,
  distribution,
}: AppPackageJson): Readonly<Record<string, unknown>> {
  return {
    ...(distribution === undefined
      ? unpublishedPackageFields
      : createPublishedPackageFields(distribution.package, distribution)),
    version,
    description: "Checks Operator catalogs in OLM's file-based format, as catalog-bot does on pull requests",
    license,
    type,
    engines,
    bin: { 'catalog-bot': 'bin/catalog-bot.cjs' },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    },
    files: ['bin', 'dist', 'THIRD-PARTY.txt'],
  }
}

export function createAuthorPackageReadme({ distribution }: AppPackageJson): string {
  const run = distribution === undefined ? 'catalog-bot' : `npx ${distribution.package}`
  const more =
    distribution === undefined
      ? ''
      : ` With an older version of Node.js, let npm install a newer one for a single command:
\`npx --package node@24 --package ${distribution.package} -- catalog-bot validate\`. For the App and the documentation, see
${distribution.site}`
  return `# catalog-bot for catalog authors

Checks Operator catalogs in OLM's file-based format on your machine, as catalog-bot does on pull requests: the verdict of
\`opm validate\`, with locations, explanations, and additional rules. Requires no dependencies and no container engine.

\`\`\`sh
${run} validate     # validate every catalog in this repository
${run} check        # would catalog-bot merge this branch?
${run} --help
\`\`\`

Requires Git 2.38 or later and Node.js 22.20 or later.${more}
`
}
