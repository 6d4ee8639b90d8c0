// Replacements for the App's commands in the package for authors, which does not include their code. Each shows where to find it.
import type { Command } from 'commander'
import { formatRunAppHint } from '../output.ts'

/** `install` rejects the first, which hides the others too. */
const clusterOptions = ['--kubeconfig', '--context', '--catalog-host', '--installer-role', '--force-clean-up']

export function addHiddenAppCommandStubs(program: Command): void {
  for (const [name, ...aliases] of [['merging', 'landings'], ['serve'], ['once'], ['demo']] as const)
    program
      .command(name, { hidden: true })
      .aliases(aliases)
      .helpOption(false)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {
        throw new Error(
          `"${name}" is part of the GitHub App, which this package does not include. ${formatRunAppHint()}`,
        )
      })
  const install = program.commands.find((command) => command.name() === 'install')
  install?.description('Simulate installing a package')
  for (const option of install?.options ?? [])
    if (clusterOptions.includes(option.long ?? '')) option.hideHelp()
}
