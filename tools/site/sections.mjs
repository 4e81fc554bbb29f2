// The order of the sidebar. An entry is a page or a folder, whose pages come by name except for those that are listed before
// it; its README is the section's own page. A page of docs/ that no entry covers is listed at the end.
export const sections = [
  { title: 'Start', entries: ['README.md', 'docs/start.md', 'docs/install.md', 'docs/migrate.md'] },
  { title: 'Recipes', entries: ['docs/recipes'] },
  { title: 'Reference', entries: ['docs/reference', 'docs/concepts', 'docs/security.md', 'docs/glossary.md'] },
  { title: 'Troubleshooting', entries: ['docs/troubleshooting.md'] },
  { title: 'Upgrading', entries: ['docs/upgrading.md'] },
  { title: 'Comparison', entries: ['docs/comparison.md'] },
  { title: 'Guides', entries: ['docs/guides/ui.md', 'docs/guides/stops.md', 'docs/guides/supervisor.md', 'docs/guides/sessions.md', 'docs/guides/pipelines.md', 'docs/guides/launcher.md', 'docs/guides'] },
  { title: 'Why', entries: ['docs/adr'], collapsed: true },
  { title: 'Development', entries: ['CONTRIBUTING.md', 'docs/design.md', 'docs/dev', 'CHANGELOG.md'], collapsed: true },
]
