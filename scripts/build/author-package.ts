// The npm metadata of the package for authors: its package.json, derived from the App's, and its README.

interface AppPackageJson {
  readonly version: string
  readonly license: string
  readonly type: string
  readonly engines: Readonly<Record<string, string>>
}

const repositoryUrl = 'https://github.com/catalog-bot/catalog-bot'

/** Scoped, because anyone can register an unscoped name. */
const authorPackageName = '@catalog-bot/cli'

export function createAuthorPackageJson({
  version,
  license,
  type,
  engines,
}: AppPackageJson): Readonly<Record<string, unknown>> {
  return {
    name: authorPackageName,
    version,
    description: "Checks Operator catalogs in OLM's file-based format, as catalog-bot does on pull requests",
    license,
    homepage: repositoryUrl,
    repository: { type: 'git', url: `git+${repositoryUrl}.git` },
    type,
    engines,
    bin: { 'catalog-bot': 'bin/catalog-bot.cjs' },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/cli/index.js' },
      './package.json': './package.json',
    },
    files: ['bin', 'dist', 'THIRD-PARTY.txt'],
    publishConfig: { access: 'public' },
  }
}

export const authorPackageReadme = `# ${authorPackageName}

Checks Operator catalogs in OLM's file-based format on your machine, as catalog-bot does on pull requests: the verdict of
\`opm validate\`, with locations, explanations, and additional rules. Requires no dependencies and no container engine.

\`\`\`sh
npx ${authorPackageName} validate     # validate every catalog in this repository
npx ${authorPackageName} check        # would catalog-bot merge this branch?
npx ${authorPackageName} --help
\`\`\`

Requires Node.js 22.20 or later. With an older version, let npm install a newer one for a single command:
\`npx --package node@24 --package ${authorPackageName} -- catalog-bot validate\`. For the App and the documentation, see ${repositoryUrl}
`
