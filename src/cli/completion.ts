// `completion SHELL`: prints a script, generated from the tree of commands, which starts no process to complete a word.
import type { Command, Option } from 'commander'
import { listCommands } from './options.ts'

export type CompletionShell = 'bash' | 'zsh' | 'fish'

export function renderCompletionScript(program: Command, shell: CompletionShell): string {
  return completionRendererByShell[shell](program)
}

const completionRendererByShell: Readonly<Record<CompletionShell, (program: Command) => string>> = {
  bash: renderBashScript,
  zsh: renderZshScript,
  fish: renderFishScript,
}

interface CommandCompletion {
  /** The words of the command, separated by spaces. Empty for the program itself. */
  readonly path: string
  readonly description: string
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly Option[]
  /** The choices for its first argument. Empty if any value is allowed. */
  readonly choices: readonly string[]
}

function listCommandCompletions(program: Command): CommandCompletion[] {
  return listCommands(program)
    .filter((command) => command === program || isVisibleCommand(command))
    .map((command) => {
      const help = command.createHelp()
      const commands = help.visibleCommands(command).filter((one) => one.name() !== 'help')
      return {
        path: getSubcommandPath(command),
        description: command.description(),
        commands: commands.map((one) => ({ name: one.name(), description: one.description() })),
        options: help.visibleOptions(command),
        choices: command.registeredArguments[0]?.argChoices ?? [],
      }
    })
}

function isVisibleCommand(command: Command): boolean {
  const { parent } = command
  return parent === null || parent.createHelp().visibleCommands(parent).includes(command)
}

function getSubcommandPath(command: Command): string {
  if (command.parent === null) return ''
  return `${getSubcommandPath(command.parent)} ${command.name()}`.trim()
}

function getOptionFlags({ short, long }: Option): string[] {
  return [long, short].filter((flag) => flag !== undefined)
}

const doesOptionTakeValue = ({ required, optional }: Option) => required || optional

function renderBashScript(program: Command): string {
  const cases = listCommandCompletions(program).map(({ path, commands, options, choices }) => {
    const words = [...commands.map(({ name }) => name), ...choices]
    const valued = options.filter(doesOptionTakeValue)
    const chosen = valued.filter(({ argChoices }) => argChoices)
    return `    '${path}')
      words='${words.join(' ')}' flags='${options.flatMap(getOptionFlags).join(' ')}'
      case "$before" in
${chosen.map((option) => `        ${getOptionFlags(option).join('|')}) words='${option.argChoices?.join(' ')}' flags='' ;;`).join('\n')}
${formatBashOptionValueCase(valued.filter((option) => !chosen.includes(option)))}
      esac ;;`
  })
  return `# bash completion for catalog-bot: source <(catalog-bot completion bash)
_catalog_bot() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} place='' words='' flags='' word
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
${listCommandCompletions(program)
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      '${path.includes(' ') ? '' : ' '}${path}') place='${path}' ;;`)
  .join('\n')}
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then words=$flags; fi
  if [[ -n $words ]]; then
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words" -- "$current")
  fi
}
complete -o bashdefault -o default -F _catalog_bot catalog-bot
`
}

function formatBashOptionValueCase(options: readonly Option[]): string {
  const flags = options.flatMap(getOptionFlags)
  return flags.length === 0 ? '' : `        ${flags.join('|')}) words='' flags='' ;;`
}

function renderZshScript(program: Command): string {
  const functions = listCommandCompletions(program).map(({ path, commands, options, choices }) => {
    const described = commands.map(
      ({ name, description }) => `    ${escapeForZsh(`${name}:${description.replaceAll(':', '\\:')}`)}`,
    )
    const specs = options.map((option) => `    ${escapeForZsh(formatZshOptionSpec(option))}`).join(' \\\n')
    const name = toShellFunctionName(path)
    if (commands.length === 0)
      return `${name}() {
  _arguments -s \\
${specs} \\
    ${choices.length > 0 ? escapeForZsh(`1:argument:(${choices.join(' ')})`) : "'*:file:_files'"}
}`
    const inner = commands
      .map((one) => `        ${one.name}) ${toShellFunctionName(`${path} ${one.name}`.trim())} ;;`)
      .join('\n')
    return `${name}() {
  local state line
  local -a commands
  commands=(
${described.join('\n')}
  )
  _arguments -C \\
${specs} \\
    '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest)
      case $line[1] in
${inner}
      esac ;;
  esac
}`
  })
  return `#compdef catalog-bot
# zsh completion for catalog-bot: source <(catalog-bot completion zsh), after compinit.
${functions.join('\n')}
compdef _catalog_bot catalog-bot
`
}

function toShellFunctionName(path: string): string {
  return `_catalog_bot${path === '' ? '' : `_${path.replace(/\W/g, '_')}`}`
}

function formatZshOptionSpec(option: Option): string {
  const [flag = '', ...others] = getOptionFlags(option)
  const words = option.description.replaceAll(/[[\]]/g, String.raw`\$&`).replaceAll(':', String.raw`\:`)
  const action = option.argChoices ? `(${option.argChoices.join(' ')})` : '_files'
  const value = doesOptionTakeValue(option) ? `:value:${action}` : ''
  // In the other scripts, each spelling has a separate line. Here, one line covers both.
  return `${others.length > 0 ? `(${others.join(' ')})` : ''}*${flag}[${words}]${value}`
}

function escapeForZsh(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function renderFishScript(program: Command): string {
  const lines = listCommandCompletions(program).flatMap(({ path, commands, options, choices }) => {
    const at = `-n ${escapeForFish(`__catalog_bot_at ${path}`.trim())}`
    return [
      ...commands.map(
        ({ name, description }) =>
          `complete -c catalog-bot -f ${at} -a ${name} -d ${escapeForFish(description)}`,
      ),
      ...choices.map((choice) => `complete -c catalog-bot -f ${at} -a ${choice}`),
      ...options.map((option) => {
        const flags = [
          ...(option.long ? [`-l ${option.long.slice(2)}`] : []),
          ...(option.short ? [`-s ${option.short.slice(1)}`] : []),
        ].join(' ')
        const value = option.argChoices
          ? ` -x -a ${escapeForFish(option.argChoices.join(' '))}`
          : doesOptionTakeValue(option)
            ? ' -r'
            : ''
        return `complete -c catalog-bot ${at} ${flags}${value} -d ${escapeForFish(option.description)}`
      }),
    ]
  })
  const paths = listCommandCompletions(program)
    .map(({ path }) => path)
    .filter((path) => path !== '')
  return `# fish completion for catalog-bot: catalog-bot completion fish > ~/.config/fish/completions/catalog-bot.fish
function __catalog_bot_at
  set -l place
  for word in (commandline -opc)[2..-1]
    if contains -- (string join -- ' ' $place $word) ${paths.map(escapeForFish).join(' ')}
      set -a place $word
    end
  end
  test "$place" = "$argv"
end
${lines.join('\n')}
`
}

function escapeForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
}
