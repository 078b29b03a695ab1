/* A button on each sample that copies it, and contents that are folded on a narrow screen. The page works without. */

// As in docs.css. There the contents are above the text, and would fill the first screen.
const narrow = matchMedia('(max-width: 52rem)')
const contents = document.querySelector('.contents details')
const fold = () => (contents.open = !narrow.matches)
narrow.addEventListener('change', fold)
fold()

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
