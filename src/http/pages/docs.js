/* A button on each sample that copies it. The page works without. */

for (const block of document.querySelectorAll('.samples pre')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', () => void copy(block.textContent, button))
  block.before(button)
}

async function copy(text, button) {
  await navigator.clipboard.writeText(text)
  button.textContent = 'Copied'
}
