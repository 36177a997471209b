;;; emacs.el --- Runs the script of a test inside Emacs, and writes what it returns as JSON  -*- lexical-binding: t -*-

(require 'eglot)
(require 'flymake)
(require 'json)

(setq eglot-sync-connect 90
      eglot-connect-timeout 120
      eglot-autoshutdown t
      eglot-confirm-server-edits nil
      flymake-no-changes-timeout 0.1)

(defvar autograd-test-patience 90)

(defun autograd-test-await (what predicate)
  "Wait until PREDICATE says something true, and return that; WHAT is what it stands for."
  (let ((deadline (+ (float-time) autograd-test-patience))
        (found nil))
    (while (not (setq found (funcall predicate)))
      (when (> (float-time) deadline)
        (error "There was no %s" what))
      (accept-process-output nil 0.05))
    found))

(defun autograd-test-open (name)
  "Visit the file NAME of the project, with the server that the configuration names."
  (find-file (expand-file-name (concat "~/project/" name)))
  (unless (eglot-current-server)
    (call-interactively #'eglot))
  (flymake-mode 1)
  (flymake-start))

(defun autograd-test-findings (count)
  "The findings of the buffer, once there are exactly COUNT, as their texts and what they underline."
  (autograd-test-await
   (format "%d findings" count)
   (lambda () (= (length (flymake-diagnostics)) count)))
  (vconcat
   (mapcar (lambda (finding)
             (vector (flymake-diagnostic-text finding)
                     (buffer-substring-no-properties (flymake-diagnostic-beg finding) (flymake-diagnostic-end finding))))
           (flymake-diagnostics))))

(let* ((script (getenv "AUTOGRAD_TEST_SCRIPT"))
       (told (condition-case failure
                 (list :ok t :answer (eval (with-temp-buffer
                                             (insert-file-contents script)
                                             (read (current-buffer)))
                                           t))
               (error (list :ok :json-false :answer (error-message-string failure))))))
  (with-temp-file (getenv "AUTOGRAD_TEST_ANSWER")
    (insert (json-encode told)))
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer (set-buffer-modified-p nil)))
  (kill-emacs 0))

;;; emacs.el ends here
